-- wrk ... -s think.lua URL -- MS: each client waits MS milliseconds between a response and its next request.
local ms = 0

function init(arguments)
  ms = tonumber(arguments[1])
end

function delay()
  return ms
end
