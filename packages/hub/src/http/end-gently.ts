/** The end of a connection whose other side is still sending. */
import type { Socket } from 'node:net';
import { limits } from '@rollcall/core/limits';

/**
 * Once the answer that says `Connection: close` is out, node closes both directions; what comes in after that is answered with a
 * reset, which may overtake the answer, so that a client sees a broken pipe and never learns why. So only our direction is closed,
 * and the rest is read and dropped (RFC 9112 §9.6), until the other side ends too, is silent, or its request has taken its time.
 */
export function endGently(socket: Socket): void {
  socket.destroySoon = () => {
    socket.setTimeout(limits.lingerMs, () => socket.destroy());
    socket.end();
    socket.resume();
  };
}
