import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.zip.CRC32;

/**
 * A small application server: Worker ADDRESS PORT LIVE_MB THREADS.
 *
 * A request allocates and sorts strings, reads parts of a heap of LIVE_MB that stays alive, and leaves a session behind,
 * of which the last thousand are kept.
 */
public class Worker {
    private static final int STRINGS = 2000;
    private static final int READS = 64;
    private static final int SESSIONS = 1000;

    public static void main(String[] arguments) throws Exception {
        byte[][] live = new byte[Integer.parseInt(arguments[2]) * 256][4096];
        Map<Long, String> sessions = Collections.synchronizedMap(new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, String> eldest) {
                return size() > SESSIONS;
            }
        });
        HttpServer server = HttpServer.create(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])), 64);
        server.createContext("/", exchange -> {
            byte[] page = work(live, sessions).getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(arguments[3])));
        server.start();
    }

    private static String work(byte[][] live, Map<Long, String> sessions) {
        SplittableRandom random = new SplittableRandom();
        List<String> strings = new ArrayList<>();
        for (int i = 0; i < STRINGS; i++) {
            strings.add(Integer.toHexString(random.nextInt()));
        }
        Collections.sort(strings);
        CRC32 sum = new CRC32();
        for (String string : strings) {
            sum.update(string.getBytes(StandardCharsets.US_ASCII));
        }
        for (int i = 0; i < READS; i++) {
            sum.update(live[random.nextInt(live.length)]);
        }
        sessions.put(random.nextLong(), strings.get(0) + strings.get(STRINGS - 1));
        return (Long.toHexString(sum.getValue()) + "\n").repeat(64);
    }
}
