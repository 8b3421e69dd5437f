"""``lawful serve``: decoding over HTTP (extra ``server``).

The JSON lines that ``lawful decode`` reads and writes are the API. The first modules are building
blocks that know nothing of decoding: ``problems`` (errors as problem+json), ``logs``, ``security``
(token, Host), ``limits`` (of bodies), ``connections`` (HTTP/1.1 with time limits) and ``running``
(uvicorn with a drain). The others are the service.
"""
