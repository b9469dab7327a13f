/** What did occur: a fault that never happens in any run tests nothing. */

export class Sometimes {
  readonly counts = new Map<string, number>();

  note(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  add(other: Iterable<readonly [string, number]>): void {
    for (const [name, count] of other) this.counts.set(name, (this.counts.get(name) ?? 0) + count);
  }
}
