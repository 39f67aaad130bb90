/** What a run has left. */
export interface Result {
  /** 0 if all went well, as of the command. */
  code: number;
  /** What it printed. */
  output: string;
  /** What it said beside that: remarks, and why it failed. */
  errors: string;
  /** All files by name, those that were given and those that it wrote. */
  files: Record<string, Uint8Array<ArrayBuffer>>;
}

/** The command, compiled. */
export interface Mercer {
  /**
   * `mercer ...args`, with `files` beside it.
   * @param told hears the output as it comes.
   */
  run(
    args: string[],
    files?: Record<string, string | ArrayBuffer | Uint8Array>,
    told?: (text: string, isError: boolean) => void,
  ): Promise<Result>;
}

/**
 * Compiles the command.
 * @param source a URL, a Response or bytes; `mercer.wasm` beside this file unless given.
 * @throws where the engine has no relaxed SIMD of WebAssembly.
 */
export function load(source?: string | URL | Response | BufferSource): Promise<Mercer>;
