"""`AsyncEngine`: the methods of `Engine`, awaited under asyncio or trio. Worker threads do the work."""
