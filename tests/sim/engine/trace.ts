/** What happened: a hash over all of it, so that two runs can be told apart, and the last of it in words. */

const STORY_LINES = 60;

export class Trace {
  #a = 0x811c9dc5;
  #b = 0x9e3779b9;
  readonly #story: string[] = [];

  /** Enters the hash only. */
  mix(text: string): void {
    let [a, b] = [this.#a, this.#b];
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul(b ^ (code + at), 0x5bd1e995) ^ (b >>> 13);
    }
    this.#a = a | 0;
    this.#b = b | 0;
  }

  /** Enters the hash and the story. */
  tell(atMs: number, line: string): void {
    this.mix(line);
    this.#story.push(`${(atMs / 1_000).toFixed(3).padStart(10)} ${line}`);
    if (this.#story.length > STORY_LINES) this.#story.shift();
  }

  get hash(): string {
    return [this.#a, this.#b].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  get story(): readonly string[] {
    return this.#story;
  }
}
