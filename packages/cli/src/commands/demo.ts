/** `rollcall demo`: the fleet of `npm start`. */
import { RollcallError } from '@rollcall/core/errors';
import { leastHosts, mostHosts } from '../demo/cast.ts';
import { defineVerb } from '../verb.ts';
import { wholeNumber } from '../whole-number.ts';

interface DemoOptions {
  readonly once?: boolean;
  readonly hosts?: string;
  readonly dir?: string;
  readonly port?: string;
}

export const demoVerb = defineVerb<DemoOptions>({
  usage: 'demo',
  summary: 'Run a hub and a small fleet here, and rotate it live under traffic',
  examples: ['rollcall demo', 'rollcall demo --once --hosts 8'],
  options: [
    { flags: '--once', description: 'end after one rotation' },
    { flags: '--hosts <n>', description: `how many hosts run an agent (${leastHosts})` },
    { flags: '--dir <dir>', description: 'where to keep it; a temporary directory otherwise' },
    { flags: '--port <n>', description: 'port of the hub; a free one otherwise' },
  ],
  run: async (context, _args, { once = false, hosts, dir, port }) => {
    const demo = await context.io.parts.demo?.();
    if (demo === undefined) throw new RollcallError('package_missing', { package: 'demo' });
    const code = await demo.runDemo({
      once,
      json: context.global.json === true,
      ...(context.global.color === false ? { color: false } : {}),
      ...(hosts === undefined ? {} : { hosts: wholeNumber('--hosts', hosts, leastHosts, mostHosts) }),
      ...(dir === undefined ? {} : { dir }),
      ...(port === undefined ? {} : { port: wholeNumber('--port', port, 0, 65_535) }),
    });
    return { json: undefined, text: [], exit: code };
  },
});
