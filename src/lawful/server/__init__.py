"""``lawful serve``: decoding over HTTP (extra ``server``).

The JSON lines that ``lawful decode`` reads and writes are the API. The first modules are building
blocks that know nothing of decoding: ``problems`` (errors as problem+json), ``logs``, ``security``
(token, Host), ``body_limits``, ``connections`` (HTTP/1.1 with time limits) and ``lifecycle``
(uvicorn with a drain). The others are the service.
"""
