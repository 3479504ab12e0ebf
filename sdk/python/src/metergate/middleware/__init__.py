"""Meters the requests of a web application: `asgi` for FastAPI and Starlette, `wsgi` for Flask and Django."""
