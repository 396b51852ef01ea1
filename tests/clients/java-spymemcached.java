import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import net.spy.memcached.ConnectionFactory;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.ConnectionFactoryBuilder.Locator;
import net.spy.memcached.ConnectionObserver;
import net.spy.memcached.DefaultHashAlgorithm;
import net.spy.memcached.KetamaConnectionFactory;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.transcoders.SerializingTranscoder;
import net.spy.memcached.transcoders.Transcoder;

/**
 * spymemcached: `java-spymemcached.java version`, or
 * `java-spymemcached.java fill MODE TAG 'HOST PORT WEIGHT'...` with a key a line, each stored as
 * `TAG KEY`.
 */
class SpymemcachedFill {
    public static void main(String[] args) throws Exception {
        if (args[0].equals("version")) {
            System.out.println("with Java " + System.getProperty("java.version"));
            return;
        }

        List<InetSocketAddress> servers = new ArrayList<>();
        for (int i = 3; i < args.length; i++) {
            String[] server = args[i].split(" ");
            servers.add(new InetSocketAddress(server[0], Integer.parseInt(server[1])));
        }

        // Operations on a server whose connection is not there yet go to another one.
        CountDownLatch connected = new CountDownLatch(servers.size());
        ConnectionObserver observer = new ConnectionObserver() {
            public void connectionEstablished(java.net.SocketAddress server, int reconnects) {
                connected.countDown();
            }

            public void connectionLost(java.net.SocketAddress server) {
            }
        };
        MemcachedClient client = new MemcachedClient(factory(args[1], observer), servers);
        if (!connected.await(10, TimeUnit.SECONDS)) {
            throw new Exception("not all servers can be reached");
        }

        BufferedReader keys =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String key; (key = keys.readLine()) != null; ) {
            if (!client.set(key, 0, args[2] + " " + key).get()) {
                throw new Exception("not stored: " + key);
            }
        }
        client.shutdown();
    }

    private static ConnectionFactory factory(String mode, ConnectionObserver observer) {
        List<ConnectionObserver> observers = new ArrayList<>(List.of(observer));
        // nginx does not decompress what it finds.
        SerializingTranscoder transcoder = new SerializingTranscoder();
        transcoder.setCompressionThreshold(Integer.MAX_VALUE);

        ConnectionFactoryBuilder builder = new ConnectionFactoryBuilder();
        builder.setInitialObservers(observers).setTranscoder(transcoder);
        switch (mode) {
            case "default":
                return builder.build();
            case "KetamaConnectionFactory":
                return new KetamaConnectionFactory() {
                    public Collection<ConnectionObserver> getInitialObservers() {
                        return observers;
                    }

                    public Transcoder<Object> getDefaultTranscoder() {
                        return transcoder;
                    }
                };
            case "CONSISTENT FNV1A_32_HASH":
                builder.setLocatorType(Locator.CONSISTENT);
                return builder.setHashAlg(DefaultHashAlgorithm.FNV1A_32_HASH).build();
            default:
                return builder.setHashAlg(DefaultHashAlgorithm.valueOf(mode)).build();
        }
    }
}
