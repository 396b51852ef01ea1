// JSONP as njs filters. Each request has variables of its own.

let name, begun;

function header(r) {
    const callback = r.args.callback;
    if (r.status == 200 && callback !== undefined && /^\w{1,255}$/.test(callback)) {
        name = callback;
        delete r.headersOut['Content-Length'];
    }
}

function body(r, data, flags) {
    if (name !== undefined) {
        if (!begun) {
            begun = true;
            data = name + '(' + data;
        }
        if (flags.last) {
            data += ');';
        }
    }
    r.sendBuffer(data, flags);
}

export default { header, body };
