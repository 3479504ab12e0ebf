#!/bin/sh
# metergate ROLE, or metergate admin …
set -eu
role="$1"
shift
case "$role" in
  ingest) exec node --max-semi-space-size=64 dist/ingest/main.js ;;
  aggregator | control-plane | delivery) exec node "dist/$role/main.js" ;;
  admin) exec node dist/infra/admin-command.js "$@" ;;
  *)
    echo "There is no role $role: ingest, aggregator, control-plane, delivery, or admin." >&2
    exit 2
    ;;
esac
