// The command in a thread of its own: a message is one run, the answer its result.
import { load } from "./mercer.js";

const command = load();

onmessage = async ({ data: { number, args, files } }) => {
  try {
    const began = performance.now();
    const result = await (await command).run(args, files);
    postMessage({ number, ...result, seconds: (performance.now() - began) / 1000 });
  } catch (error) {
    postMessage({ number, failure: error.message });
  }
};
