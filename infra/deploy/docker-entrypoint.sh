#!/bin/sh
# metergate ROLE, metergate admin …, metergate audit [--repair], or metergate health and ready: 0 when the
# process of this container is.
set -eu
role="${1:---help}"
[ $# -eq 0 ] || shift
roles='ingest, aggregator, control-plane, delivery, admin or audit'
case "$role" in
  ingest) exec node --max-semi-space-size=64 --initial-old-space-size=128 dist/app/roles/ingest.js ;;
  aggregator | control-plane | delivery) exec node "dist/app/roles/$role.js" ;;
  health) exec node dist/app/admin/health-command.js ;;
  ready) exec node dist/app/admin/health-command.js /readyz ;;
  audit) exec node dist/app/admin/audit-command.js "$@" ;;
  admin) exec node dist/app/admin/admin-command.js "$@" ;;
  -h | --help) echo "Usage: metergate ROLE, which is $roles; see also admin --help and audit --help." ;;
  *)
    echo "There is no role $role: $roles." >&2
    exit 2
    ;;
esac
