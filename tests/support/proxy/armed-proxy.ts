import type { Closer } from '../../../infra/platform/closer.ts';
import { type Address, startTcpProxy, type TcpProxy, type TcpProxyOptions } from './tcp-proxy.ts';

/** A proxy whose faults the last caller of `arm` draws. */
export interface ArmedProxy extends TcpProxy {
  arm(fault: TcpProxyOptions['fault']): void;
}

/** One hop of an installation, which passes everything until it is armed. */
export async function openHop(closer: Closer, target: () => Address): Promise<ArmedProxy> {
  let armed: TcpProxyOptions['fault'];
  const proxy = await startTcpProxy({ target, fault: (request) => armed?.(request) });
  closer.add('proxy', { close: () => proxy.close() });
  return Object.assign(proxy, {
    arm(fault: TcpProxyOptions['fault']) {
      armed = fault;
    },
  });
}
