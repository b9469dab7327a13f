/** Which network an address is of, for limits that one stranger must not use up for all others (design 8). */
/** An IPv4 address, or the /64 that an IPv6 address is of: whoever has one address of it has them all. */
export function networkOf(address: string): string {
  const mapped = MAPPED_IPV4.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  // What `::` stands for is zeros, as many as are missing; only the first four groups matter.
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  while (tail !== undefined && groups.length + rest.length < 8) groups.push('0');
  return [...groups, ...rest].slice(0, PREFIX_GROUPS).join(':');
}

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const PREFIX_GROUPS = 4;
