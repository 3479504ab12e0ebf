import { MeterListScreen } from './meter-list-screen.tsx';
import { MeterScreen } from './meter-screen.tsx';

export function MetersScreen({ path: [meterKey] }: { path: string[] }) {
  return meterKey === undefined ? <MeterListScreen /> : <MeterScreen meterKey={meterKey} />;
}
