-- wrk ... -s think.lua URL -- MS FILE: each client waits MS milliseconds between a response and its next request. FILE gets
-- a line for each whole second of the clock: its end, its length, the requests that were sent in it.
local ms = 0
local file, second, requests

function init(arguments)
  ms = tonumber(arguments[1])
  file = io.open(arguments[2], "w")
  file:setvbuf("line")
  file:write("end_s,interval_s,requests\n")
end

function delay()
  local now = os.time()
  if second == nil then
    second, requests = now, nil -- the first second is not whole
  elseif now > second then
    if requests then
      file:write(string.format("%d,1,%d\n", second + 1, requests))
      for empty = second + 2, now do
        file:write(string.format("%d,1,0\n", empty))
      end
    end
    second, requests = now, 0
  end
  if requests then
    requests = requests + 1
  end
  return ms
end
