# The team server: docs/team-server.md has the commands, docs/deploy/compose.yml the database and TLS.
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY docs/reference/holdfast.1 docs/reference/holdfast.1
COPY src src
RUN pip install --no-cache-dir --prefix /built '.[http,postgres]'

FROM python:3.13-slim
COPY --from=build /built /usr/local
RUN useradd --system --create-home --home-dir /var/lib/holdfast holdfast
USER holdfast
WORKDIR /var/lib/holdfast
ENV HOLDFAST_HOME=/var/lib/holdfast PYTHONUNBUFFERED=1
VOLUME /var/lib/holdfast
EXPOSE 4654
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:4654/healthz', timeout=4)"]
ENTRYPOINT ["holdfast"]
CMD ["server", "run", "--host", "0.0.0.0", "--port", "4654"]
