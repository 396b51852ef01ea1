//! As much of an HTTP/2 client (RFC 9113) as it takes to ask nginx for one thing after another, in clear text.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use crate::support::http::connect;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// A connection.
pub struct Client {
    stream: TcpStream,
    next: u32,
}

/// What came of a request.
pub enum Outcome {
    /// Status and body.
    Answered(u16, Vec<u8>),
    /// The server did not process it, and ends the connection: it can be asked again on another.
    NotProcessed,
}

impl Client {
    pub fn open(port: u16) -> io::Result<Client> {
        let mut stream = connect(Ipv4Addr::LOCALHOST.into(), port, None)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        let mut start = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        // SETTINGS_INITIAL_WINDOW_SIZE, so that no stream has to wait for more.
        start.extend(frame(SETTINGS, 0, 0, &[0, 4, 0x40, 0, 0, 0]));
        start.extend(frame(WINDOW_UPDATE, 0, 0, &0x4000_0000u32.to_be_bytes()));
        stream.write_all(&start)?;
        Ok(Client { stream, next: 1 })
    }

    /// Asks `GET path`.
    pub fn ask(&mut self, path: &str, headers: &[(&str, &str)]) -> io::Result<Outcome> {
        let id = self.next;
        self.next += 2;
        // Fields by their index in the static table, and literal ones (RFC 7541): `:method: GET`,
        // `:scheme: http`, `:authority`, `:path`.
        let mut fields = vec![0x82, 0x86, 0x01];
        string(&mut fields, "localhost");
        fields.push(0x04);
        string(&mut fields, path);
        for (name, value) in headers {
            fields.push(0);
            string(&mut fields, name);
            string(&mut fields, value);
        }
        if self.stream.write_all(&frame(HEADERS, END_STREAM | END_HEADERS, id, &fields)).is_err() {
            return Ok(Outcome::NotProcessed);
        }
        self.read(id)
    }

    fn read(&mut self, id: u32) -> io::Result<Outcome> {
        let (mut status, mut body) = (0, Vec::new());
        loop {
            let (kind, flags, stream, payload) = match self.read_frame() {
                Ok(frame) => frame,
                // Ended before the answer began, as a kept connection may at any time.
                Err(_) if status == 0 => return Ok(Outcome::NotProcessed),
                Err(error) => return Err(error),
            };
            match kind {
                SETTINGS if flags & ACK == 0 => {
                    self.stream.write_all(&frame(SETTINGS, ACK, 0, &[]))?
                }
                PING if flags & ACK == 0 => {
                    self.stream.write_all(&frame(PING, ACK, 0, &payload))?
                }
                GOAWAY if word(&payload) < id => return Ok(Outcome::NotProcessed),
                RST_STREAM if stream == id => return Err(io::Error::other("stream reset")),
                HEADERS if stream == id => status = status_of(&payload).unwrap_or(999),
                DATA if stream == id => body.extend_from_slice(&payload),
                _ => {}
            }
            if matches!(kind, HEADERS | DATA) && stream == id && flags & END_STREAM != 0 {
                return Ok(Outcome::Answered(status, body));
            }
        }
    }

    fn read_frame(&mut self) -> io::Result<(u8, u8, u32, Vec<u8>)> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload)?;
        Ok((head[3], head[4], word(&head[5..]) & 0x7fff_ffff, payload))
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32;
    [&length.to_be_bytes()[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A string literal that is not coded. Lengths from 127 on go on in further bytes (RFC 7541, 5.1).
fn string(fields: &mut Vec<u8>, text: &str) {
    let mut length = text.len();
    if length < 127 {
        fields.push(length as u8);
    } else {
        fields.push(127);
        length -= 127;
        while length >= 128 {
            fields.push((length % 128 + 128) as u8);
            length /= 128;
        }
        fields.push(length as u8);
    }
    fields.extend_from_slice(text.as_bytes());
}

/// `:status` is the first field of nginx's answers: by its index, or by that of its name and three digits.
fn status_of(fields: &[u8]) -> Option<u16> {
    // A table size update may stand in front of it.
    let fields = match fields {
        [first, rest @ ..] if first & 0xe0 == 0x20 => rest,
        _ => fields,
    };
    match fields {
        [0x88, ..] => Some(200),
        [0x8c, ..] => Some(400),
        [0x8d, ..] => Some(404),
        [0x8e, ..] => Some(500),
        [0x08 | 0x48, 3, digits @ ..] => std::str::from_utf8(digits.get(..3)?).ok()?.parse().ok(),
        _ => None,
    }
}

fn word(bytes: &[u8]) -> u32 {
    bytes.get(..4).map_or(0, |bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}
