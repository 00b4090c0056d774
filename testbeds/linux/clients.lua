-- wrk -t SERVERS -c N ... -s clients.lua URL -- CLIENTS THINK_MS FILE
--
-- Thread n drives the server at 127.0.0.n, port 8100, with CLIENTS connections, so that one wrk is the driver of all servers.
-- Each connection waits THINK_MS between a response and its next request. FILE gets a line for each whole second of the clock
-- and each server: the end of the second, the server, the requests that were sent and answered in it, and the mean number of
-- requests that waited for their response.
local ffi = require("ffi")
ffi.cdef [[
  typedef struct { long s; long ns; } clients_time;
  int clock_gettime(int clock, clients_time *time);
]]
local REALTIME = 0
local time = ffi.new("clients_time")
local threads = 0

function setup(thread)
  threads = threads + 1
  thread.addr = wrk.lookup("127.0.0." .. threads, "8100")[1]
  thread:set("server", threads)
end

local clients, think_ms, file, message
local second, since, whole -- the end of the second under way, the last event, whether the second was seen from its start
local connected, waiting, sent, answered, waited_s = 0, 0, 0, 0, 0

function init(arguments)
  clients, think_ms = tonumber(arguments[1]), tonumber(arguments[2])
  message = wrk.format()
  if server == 1 then -- before the other threads: wrk makes them one after the other
    local new = io.open(arguments[3], "w")
    new:write("end_s,server,sent,answered,waiting\n")
    new:close()
  end
  file = io.open(arguments[3], "a")
  file:setvbuf("line")
end

local function advance()
  ffi.C.clock_gettime(REALTIME, time)
  local now = tonumber(time.s) + 1e-9 * tonumber(time.ns)
  if second == nil then
    second, since = math.floor(now) + 1, now
  end
  while now >= second do
    if whole then
      waited_s = waited_s + waiting * (second - since)
      file:write(string.format("%d,server%d,%d,%d,%.4f\n", second, server, sent, answered, waited_s))
    end
    whole, sent, answered, waited_s = true, 0, 0, 0
    second, since = second + 1, second
  end
  waited_s = waited_s + waiting * (now - since)
  since = now
end

-- wrk asks for the think time when a connection stands, and after each response.
function delay()
  if connected < clients then
    connected = connected + 1
  else
    advance()
    waiting, answered = waiting - 1, answered + 1
  end
  return think_ms
end

function request()
  if connected > 0 then -- wrk asks once before it connects
    advance()
    waiting, sent = waiting + 1, sent + 1
  end
  return message
end
