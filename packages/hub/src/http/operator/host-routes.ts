/** Hosts and their pins. */
import { routes } from '@rollcall/wire';
import type { Hub } from '../../hub.ts';
import { acceptFirstUse, showExposure } from '../../operations/accept-first-use.ts';
import { addHost, reenrolHost } from '../../operations/add-host.ts';
import { approvePin, confirmPin, rejectPin } from '../../operations/decide-pin.ts';
import { evictHost, removeHost } from '../../operations/end-host.ts';
import { importHosts } from '../../operations/import-hosts.ts';
import { dropHostToken, issueHostToken } from '../../operations/issue-host-token.ts';
import { resumeHost, suspendHost, unbanHost } from '../../operations/suspend-host.ts';
import { listHostRows, showHost } from '../../views/hosts.ts';
import { listPendingPins, showPin } from '../../views/pins.ts';
import type { OperatorRegister } from './register-operator.ts';

export function registerHostRoutes(on: OperatorRegister, hub: Hub): void {
  on(routes.listHosts, async () => ({ hosts: await listHostRows(hub) }));
  on(routes.addHost, async ({ body, actor }) => addHost(hub, body, actor));
  on(routes.importHosts, async ({ body, actor }) => importHosts(hub, body, actor));
  on(routes.showHost, async ({ host }) => showHost(hub, host));
  on(routes.reenrolHost, async ({ host, body, actor }) => reenrolHost(hub, host, body.tokenLifeMs, actor));
  on(routes.issueHostToken, async ({ host, actor }) => issueHostToken(hub, host, actor));
  on(routes.dropHostToken, async ({ host, name, actor }) => dropHostToken(hub, host, name, actor));
  on(routes.suspendHost, async ({ host, actor }) => suspendHost(hub, host, actor));
  on(routes.resumeHost, async ({ host, actor }) => resumeHost(hub, host, actor));
  on(routes.evictHost, async ({ host, body, actor }) => evictHost(hub, host, body.ban === true, actor));
  on(routes.unbanHost, async ({ host, actor }) => unbanHost(hub, host, actor));
  on(routes.removeHost, async ({ host, actor }) => removeHost(hub, host, actor));

  on(routes.listPins, async () => listPendingPins(hub));
  on(routes.showPin, async ({ host }) => showPin(hub, host));
  on(routes.approvePin, async ({ host, body, actor }) => approvePin(hub, host, body.fingerprint, actor));
  on(routes.confirmPin, async ({ host, body, actor }) => confirmPin(hub, host, body.fingerprint, actor));
  on(routes.rejectPin, async ({ host, body, actor }) => rejectPin(hub, host, body.fingerprint, actor));
  on(routes.exposure, async () => showExposure(hub));
  on(routes.acceptFirstUse, async ({ body, actor }) => acceptFirstUse(hub, body, actor));
}
