// Runs the `mercer` command in WebAssembly: its files are in memory, it has no network.
// The command is a program of WASI preview 1; here stand the calls of WASI that it makes.

/** A module of four instructions that need relaxed SIMD, to be validated and not run. */
const RELAXED = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2,
  253, 135, 2, 11,
]);
const NO_RELAXED =
  "This engine has no relaxed SIMD of WebAssembly; " +
  "use Chrome or Edge (from 114), another browser that has it, or Node (from 22).";

const OK = 0,
  NO_RESOURCE = 6,
  BAD_DESCRIPTOR = 8,
  EXISTS = 20,
  INVALID = 28,
  IS_FOLDER = 31,
  NO_ENTRY = 44,
  NO_CALL = 52,
  NOT_FOLDER = 54,
  NO_SEEK = 70;
/** What a shell tells of a program that was aborted. */
const ABORTED = 134;
const FOLDER = 3,
  REGULAR = 4;
/** The descriptor of the one folder. */
const ROOT = 3;

/** What an older libc of WASI lacks: there are no threads, and no path has another name. */
const MISSING = new Proxy({}, { get: (_, name) => () => (name === "pthread_create" ? NO_RESOURCE : 0) });

class Exit extends Error {
  constructor(code) {
    super(`the program ended with ${code}`);
    this.code = code;
  }
}

/** A file in memory that can grow. */
class Contents {
  constructor(bytes, number) {
    this.bytes = bytes;
    this.size = bytes.length;
    this.number = number;
  }

  write(at, part) {
    const end = at + part.length;
    if (end > this.bytes.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.bytes.length));
      larger.set(this.bytes.subarray(0, this.size));
      this.bytes = larger;
    }
    this.bytes.set(part, at);
    this.size = Math.max(this.size, end);
  }

  read(at, length) {
    return this.bytes.subarray(Math.min(at, this.size), Math.min(at + length, this.size));
  }
}

/** The calls of one run. */
class System {
  constructor(args, files, told) {
    this.args = args.map((word) => new TextEncoder().encode(`${word}\0`));
    this.made = 0;
    this.files = new Map(Object.entries(files).map(([name, bytes]) => [name, this.contents(bytes)]));
    this.open = new Map();
    this.texts = { 1: new TextDecoder(), 2: new TextDecoder() };
    this.told = told;
  }

  contents(bytes = new Uint8Array(0)) {
    return new Contents(bytes, (this.made += 1));
  }

  // What the program's memory holds; it moves when it grows, so no view is kept.
  get view() {
    return new DataView(this.memory.buffer);
  }
  bytes(at, length) {
    return new Uint8Array(this.memory.buffer, at, length);
  }
  name(at, length) {
    return new TextDecoder()
      .decode(this.bytes(at, length).slice())
      .replace(/^(\.?\/)+/, "")
      .replace(/^\.$/, "");
  }
  *vectors(at, count) {
    for (let i = 0; i < count; i += 1)
      yield [this.view.getUint32(at + 8 * i, true), this.view.getUint32(at + 8 * i + 4, true)];
  }
  size32(at, value) {
    this.view.setUint32(at, value, true);
    return OK;
  }
  size64(at, value) {
    this.view.setBigUint64(at, BigInt(value), true);
    return OK;
  }
  kind(fd) {
    const handle = this.open.get(fd);
    return handle?.file ? REGULAR : handle || fd === ROOT ? FOLDER : 0;
  }
  status(at, kind, file) {
    this.bytes(at, 64).fill(0);
    this.size64(at + 8, file?.number ?? 0);
    this.view.setUint8(at + 16, kind);
    this.size64(at + 24, 1);
    return this.size64(at + 32, file?.size ?? 0);
  }

  args_sizes_get(count, size) {
    this.size32(count, this.args.length);
    return this.size32(
      size,
      this.args.reduce((sum, word) => sum + word.length, 0),
    );
  }
  args_get(places, at) {
    this.args.forEach((word, i) => {
      this.size32(places + 4 * i, at);
      this.bytes(at, word.length).set(word);
      at += word.length;
    });
    return OK;
  }
  environ_sizes_get(count, size) {
    this.size32(count, 0);
    return this.size32(size, 0);
  }
  environ_get() {
    return OK;
  }
  clock_time_get(clock, _precision, at) {
    const milliseconds = clock === 0 ? Date.now() : performance.now();
    return this.size64(at, Math.round(milliseconds * 1e6));
  }
  random_get(at, length) {
    for (let done = 0; done < length; done += 65536)
      crypto.getRandomValues(this.bytes(at + done, Math.min(65536, length - done)));
    return OK;
  }
  sched_yield() {
    return OK;
  }
  proc_exit(code) {
    throw new Exit(code);
  }

  fd_prestat_get(fd, at) {
    if (fd !== ROOT) return BAD_DESCRIPTOR;
    this.size32(at, 0);
    return this.size32(at + 4, 1);
  }
  fd_prestat_dir_name(fd, at) {
    this.bytes(at, 1)[0] = "/".charCodeAt(0);
    return fd === ROOT ? OK : BAD_DESCRIPTOR;
  }
  fd_fdstat_get(fd, at) {
    this.bytes(at, 24).fill(0);
    this.view.setUint8(at, this.kind(fd));
    this.size64(at + 8, 0xfffffffn);
    return this.size64(at + 16, 0xfffffffn);
  }
  fd_fdstat_set_flags() {
    return OK;
  }
  fd_sync() {
    return OK;
  }
  fd_datasync() {
    return OK;
  }
  fd_advise() {
    return OK;
  }
  fd_filestat_get(fd, at) {
    return this.status(at, this.kind(fd), this.open.get(fd)?.file);
  }
  fd_filestat_set_size(fd, size) {
    const file = this.open.get(fd)?.file;
    if (!file) return BAD_DESCRIPTOR;
    file.write(Number(size), new Uint8Array(0));
    file.size = Number(size);
    return OK;
  }
  fd_close(fd) {
    return this.open.delete(fd) ? OK : BAD_DESCRIPTOR;
  }
  fd_read(fd, vectors, count, read) {
    const handle = this.open.get(fd);
    if (fd !== 0 && !handle?.file) return BAD_DESCRIPTOR;
    let sum = 0;
    for (const [at, length] of handle ? this.vectors(vectors, count) : []) {
      const part = handle.file.read(handle.at, length);
      this.bytes(at, part.length).set(part);
      handle.at += part.length;
      sum += part.length;
    }
    return this.size32(read, sum);
  }
  fd_write(fd, vectors, count, written) {
    const handle = this.open.get(fd);
    if (!handle?.file && !this.texts[fd]) return BAD_DESCRIPTOR;
    let sum = 0;
    for (const [at, length] of this.vectors(vectors, count)) {
      const part = this.bytes(at, length);
      if (handle) {
        handle.file.write(handle.at, part);
        handle.at += length;
      } else {
        this.told(fd, this.texts[fd].decode(part.slice(), { stream: true }));
      }
      sum += length;
    }
    return this.size32(written, sum);
  }
  fd_seek(fd, offset, whence, to) {
    const handle = this.open.get(fd);
    if (!handle?.file) return fd < ROOT ? NO_SEEK : BAD_DESCRIPTOR;
    const at = Number(offset) + [0, handle.at, handle.file.size][whence];
    if (!(at >= 0)) return INVALID;
    handle.at = at;
    return this.size64(to, at);
  }
  fd_readdir(fd, at, length, cookie, used) {
    const entries = [...this.files].slice(Number(cookie)).map(([name, file], i) => {
      const text = new TextEncoder().encode(name);
      const entry = new Uint8Array(24 + text.length);
      const view = new DataView(entry.buffer);
      view.setBigUint64(0, cookie + BigInt(i + 1), true);
      view.setBigUint64(8, BigInt(file.number), true);
      view.setUint32(16, text.length, true);
      view.setUint8(20, REGULAR);
      entry.set(text, 24);
      return [...entry];
    });
    const whole = Uint8Array.from(entries.flat()).subarray(0, length);
    this.bytes(at, whole.length).set(whole);
    return this.size32(used, whole.length);
  }
  path_open(_fd, _follow, at, length, how, _rights, _inherited, _flags, opened) {
    const name = this.name(at, length);
    const [create, folder, exclusive, truncate] = [1, 2, 4, 8].map((flag) => (how & flag) !== 0);
    if (name !== "") {
      if (!this.files.has(name) && !create) return NO_ENTRY;
      if (this.files.has(name) && create && exclusive) return EXISTS;
      if (folder) return NOT_FOLDER;
      if (!this.files.has(name)) this.files.set(name, this.contents());
    }
    // The folder has no contents.
    const file = this.files.get(name);
    if (file && truncate) file.size = 0;
    let fd = ROOT + 1;
    while (this.open.has(fd)) fd += 1;
    this.open.set(fd, { file, at: 0 });
    return this.size32(opened, fd);
  }
  path_filestat_get(_fd, _follow, path, length, at) {
    const name = this.name(path, length);
    if (name === "") return this.status(at, FOLDER);
    const file = this.files.get(name);
    return file ? this.status(at, REGULAR, file) : NO_ENTRY;
  }
  path_unlink_file(_fd, at, length) {
    return this.files.delete(this.name(at, length)) ? OK : NO_ENTRY;
  }
  path_rename(_fd, at, length, _to, toAt, toLength) {
    const [from, to] = [this.name(at, length), this.name(toAt, toLength)];
    if (!this.files.has(from)) return NO_ENTRY;
    if (to === "") return IS_FOLDER;
    this.files.set(to, this.files.get(from));
    return from === to || this.files.delete(from) ? OK : NO_ENTRY;
  }

  /** All calls by name; one that is not here says so to the program. */
  get imports() {
    return new Proxy(
      {},
      {
        get: (_, name) => (typeof this[name] === "function" ? this[name].bind(this) : () => NO_CALL),
      },
    );
  }
}

/** Compiles the command: from a URL, a Response or bytes; beside this file unless told. */
export async function load(source = new URL("mercer.wasm", import.meta.url)) {
  if (!WebAssembly.validate(RELAXED)) throw new Error(NO_RELAXED);
  let bytes = source;
  if (source instanceof URL && source.protocol === "file:") {
    bytes = await (await import("node:fs/promises")).readFile(source);
  } else if (source instanceof URL || typeof source === "string") {
    const answer = await fetch(source);
    if (!answer.ok) throw new Error(`${source}: ${answer.status} ${answer.statusText}`);
    bytes = await answer.arrayBuffer();
  } else if (typeof Response !== "undefined" && source instanceof Response) {
    bytes = await source.arrayBuffer();
  }
  return new Mercer(await WebAssembly.compile(bytes));
}

/** The command; every run has a memory of its own. */
class Mercer {
  constructor(module) {
    this.module = module;
  }

  /**
   * `mercer ...args`, with `files` by name (bytes or text) beside it. `told(text, isError)` hears the
   * output as it comes.
   */
  async run(args, files = {}, told = () => {}) {
    const bytes = (data) => (typeof data === "string" ? new TextEncoder().encode(data) : new Uint8Array(data));
    const given = Object.fromEntries(Object.entries(files).map(([name, data]) => [name, bytes(data)]));
    const texts = { 1: "", 2: "" };
    const system = new System(["mercer", ...args], given, (stream, text) => {
      texts[stream] += text;
      told(text, stream === 2);
    });
    const imports = { wasi_snapshot_preview1: system.imports, env: MISSING };
    const { exports } = await WebAssembly.instantiate(this.module, imports);
    system.memory = exports.memory;
    let code = 0;
    try {
      exports._start();
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) {
        // A panic has said why before.
        texts[2] += `the command broke down (${error.message}); please report it\n`;
        code = ABORTED;
      } else if (error instanceof Exit) {
        code = error.code;
      } else {
        throw error;
      }
    }
    const now = [...system.files].map(([name, file]) => [name, file.bytes.slice(0, file.size)]);
    return { code, output: texts[1], errors: texts[2], files: Object.fromEntries(now) };
  }
}
