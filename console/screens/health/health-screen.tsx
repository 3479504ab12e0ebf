import type { Readiness } from '../../../schemas/resources/service.ts';
import { useRead } from '../../api/reads.ts';
import { linkTo } from '../../app/place.ts';
import { Screen } from '../../app/screen.tsx';
import { count } from '../../design/figures.ts';
import { Failure, Skeleton } from '../../design/loaded.tsx';
import { Badge, Card, Facts, Notice } from '../../design/pieces.tsx';
import { Table } from '../../design/table.tsx';
import { InstallationFigures } from '../installation-figures.tsx';
import { useFailing } from '../webhooks/failing.ts';
import { BLOCKERS, CHECKS } from './checks.ts';

const EVERY_MS = 10_000;

export function HealthScreen() {
  const read = useRead<Readiness>({ method: 'GET', path: '/readyz' }, { everyMs: EVERY_MS });
  // With 503 the body says what is wrong.
  const failing = useFailing()?.size;
  const reported = read.error?.status === 503 ? (read.error.body as Readiness) : read.data;
  return (
    <Screen title="Health" badges={reported ? <Verdict readiness={reported} failing={failing} /> : null}>
      <InstallationFigures />
      {reported ? (
        <>
          <DataPlane readiness={reported} />
          {failing === undefined ? null : <WebhookEndpoints failing={failing} />}
          <Checks readiness={reported} />
        </>
      ) : read.error ? (
        <Failure error={read.error} onRetry={read.reload} />
      ) : (
        <Skeleton lines={6} />
      )}
      <Audit readiness={reported} />
    </Screen>
  );
}

/** `failing`: endpoints of this mode; undefined where the key may not see them. */
function Verdict({ readiness, failing = 0 }: { readiness: Readiness; failing: number | undefined }) {
  if (readiness.status !== 'ready') return <Badge tone="bad">Needs attention</Badge>;
  return failing > 0 ? (
    <Badge tone="warn">Works, webhooks fail</Badge>
  ) : (
    <Badge tone="good">Everything works</Badge>
  );
}

function WebhookEndpoints({ failing }: { failing: number }) {
  if (failing === 0) return <Notice tone="good">Webhook endpoints: none fails in this mode.</Notice>;
  return (
    <Notice tone="warn">
      Webhook endpoints: {failing === 1 ? '1 fails' : `${count(failing)} fail`} in this mode. Their receivers
      do not accept what is sent; nothing is lost meanwhile. <a href={linkTo(['webhooks'])}>See why</a>
    </Notice>
  );
}

function DataPlane({ readiness: { dataPlane } }: { readiness: Readiness }) {
  if (dataPlane === undefined || dataPlane === 'ok') {
    return <Notice tone="good">Usage events are accepted.</Notice>;
  }
  return (
    <Notice tone="bad">
      {Object.entries(dataPlane).map(([name, why]) => (
        <p key={name}>
          Usage events are rejected: {why}. {BLOCKERS[name as keyof typeof BLOCKERS] ?? ''}
        </p>
      ))}
    </Notice>
  );
}

function Checks({ readiness: { checks } }: { readiness: Readiness }) {
  if (checks === undefined) {
    return <Notice>METRICS_PORT or METRICS_TOKEN is set: only operators see the single checks.</Notice>;
  }
  const rows = Object.entries(checks).map(([name, check]) => ({
    ...check,
    ...(CHECKS[name as keyof typeof CHECKS] ?? { title: name, good: check.detail, cure: '' }),
  }));
  const failing = rows.filter(({ ok }) => !ok).length;
  return (
    <Card title="Checks" actions={failing > 0 ? <Badge tone="bad">{count(failing)} failing</Badge> : null}>
      <Table
        label="Checks of the service"
        rows={rows}
        empty="No check has run yet."
        columns={[
          { title: 'Check', cell: ({ title }) => title },
          {
            title: 'State',
            isFit: true,
            cell: ({ ok }) => <Badge tone={ok ? 'good' : 'bad'}>{ok ? 'OK' : 'Fails'}</Badge>,
          },
          { title: 'Meaning', cell: ({ ok, good, detail }) => (ok ? good : detail) },
          { title: 'What to do', cell: ({ ok, cure }) => (ok ? 'Nothing.' : cure) },
        ]}
      />
    </Card>
  );
}

function Audit({ readiness }: { readiness: Readiness | undefined }) {
  const audit = readiness?.checks?.audit;
  return (
    <Card title="Audit and versions">
      <Facts
        facts={[
          ['Last audit', audit ? (audit.ok ? 'No difference is known.' : audit.detail) : 'Not shown here.'],
          ['Run one', <code>npm run audit</code>],
          ['Repair', <code>npm run audit -- --repair</code>],
          ['Metergate', readiness?.version ?? 'Not shown here.'],
          ['API', 'v1'],
        ]}
      />
      <p class="small muted">
        An audit compares the log, the warehouse, the counters and the credits of the installation. It runs
        where Metergate runs, since it reads files that no API shows.
      </p>
    </Card>
  );
}
