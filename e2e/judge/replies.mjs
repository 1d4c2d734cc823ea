// Has the vendors' own SDKs read the replies in host/protocols/testdata,
// streamed and whole, and compares what they find with what the files say.
// Prints each difference; the exit status is 1 if there is one.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { deepStrictEqual } from "node:assert";
import OpenAI from "openai";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { Ollama } from "ollama";

const dir = process.argv[2];
const user = [{ role: "user", content: "go" }];

// The first element of a request's path names the reply.
const replies = {};
const server = createServer((req, res) => {
  const body = [];
  req.on("data", (b) => body.push(b));
  req.on("end", () => {
    const [, protocol, name] = req.url.split("/");
    const reply = replies[protocol][name];
    const asked = JSON.parse(Buffer.concat(body).toString());
    const stream = protocol === "gemini" ? req.url.includes(":streamGenerateContent") : asked.stream;
    const type = protocol === "ollama" ? "application/x-ndjson" : "text/event-stream";
    res.writeHead(200, { "Content-Type": stream ? type : "application/json" });
    res.end(stream ? reply.stream : reply.whole);
  });
});

const parsed = (text) => JSON.parse(text || "{}");

// What an SDK found, in the words of the files.
const readers = {
  "openai-chat": async (base, stream) => {
    const client = new OpenAI({ baseURL: base + "/v1", apiKey: "k", maxRetries: 0 });
    const params = { model: "m-1", messages: user, ...(stream && { stream_options: { include_usage: true } }) };
    const got = stream ? await client.chat.completions.stream(params).finalChatCompletion() : await client.chat.completions.create(params);
    const { message, finish_reason } = got.choices[0];
    return {
      text: message.content ?? "",
      calls: (message.tool_calls ?? []).map((c) => ({ name: c.function.name, args: parsed(c.function.arguments) })),
      finish: { stop: "stop", tool_calls: "calls", length: "length" }[finish_reason],
      in: got.usage.prompt_tokens,
      out: got.usage.completion_tokens,
    };
  },
  "openai-responses": async (base, stream) => {
    const client = new OpenAI({ baseURL: base + "/v1", apiKey: "k", maxRetries: 0 });
    const params = { model: "m-1", input: "go" };
    const got = stream ? await client.responses.stream(params).finalResponse() : await client.responses.create(params);
    const calls = got.output.filter((i) => i.type === "function_call");
    const length = got.incomplete_details?.reason === "max_output_tokens";
    return {
      text: got.output_text,
      thinking: got.output.filter((i) => i.type === "reasoning").flatMap((i) => i.summary.map((s) => s.text)).join(""),
      calls: calls.map((c) => ({ name: c.name, args: parsed(c.arguments) })),
      finish: length ? "length" : calls.length ? "calls" : "stop",
      in: got.usage.input_tokens,
      out: got.usage.output_tokens,
    };
  },
  anthropic: async (base, stream) => {
    const client = new Anthropic({ baseURL: base, apiKey: "k", maxRetries: 0 });
    const params = { model: "m-1", messages: user, max_tokens: 100 };
    const got = stream ? await client.messages.stream(params).finalMessage() : await client.messages.create(params);
    const of = (type) => got.content.filter((b) => b.type === type);
    return {
      text: of("text").map((b) => b.text).join(""),
      thinking: of("thinking").map((b) => b.thinking).join(""),
      calls: of("tool_use").map((b) => ({ name: b.name, args: b.input })),
      finish: { end_turn: "stop", tool_use: "calls", max_tokens: "length" }[got.stop_reason],
      in: got.usage.input_tokens,
      out: got.usage.output_tokens,
    };
  },
  gemini: async (base, stream) => {
    const client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: base } });
    const params = { model: "m-1", contents: "go" };
    const chunks = [];
    if (stream) for await (const c of await client.models.generateContentStream(params)) chunks.push(c);
    else chunks.push(await client.models.generateContent(params));
    const parts = chunks.flatMap((c) => c.candidates[0].content.parts);
    const last = chunks.at(-1);
    const calls = parts.filter((p) => p.functionCall).map((p) => ({ name: p.functionCall.name, args: p.functionCall.args }));
    const reason = last.candidates[0].finishReason;
    return {
      text: parts.filter((p) => !p.thought).map((p) => p.text ?? "").join(""),
      thinking: parts.filter((p) => p.thought).map((p) => p.text ?? "").join(""),
      calls,
      finish: reason === "MAX_TOKENS" ? "length" : calls.length ? "calls" : reason === "STOP" ? "stop" : reason,
      in: last.usageMetadata.promptTokenCount,
      out: last.usageMetadata.candidatesTokenCount,
    };
  },
  ollama: async (base, stream) => {
    const client = new Ollama({ host: base });
    const chunks = [];
    if (stream) for await (const c of await client.chat({ model: "m-1", messages: user, stream: true })) chunks.push(c);
    else chunks.push(await client.chat({ model: "m-1", messages: user, stream: false }));
    const last = chunks.at(-1);
    const calls = chunks.flatMap((c) => c.message.tool_calls ?? []).map((c) => ({ name: c.function.name, args: c.function.arguments }));
    return {
      text: chunks.map((c) => c.message.content).join(""),
      thinking: chunks.map((c) => c.message.thinking ?? "").join(""),
      calls,
      finish: last.done_reason === "length" ? "length" : calls.length ? "calls" : last.done_reason,
      in: last.prompt_eval_count,
      out: last.eval_count,
    };
  },
};

await new Promise((done) => server.listen(0, "127.0.0.1", done));
const url = `http://127.0.0.1:${server.address().port}`;
let read = 0;
for (const [protocol, reader] of Object.entries(readers)) {
  replies[protocol] = JSON.parse(readFileSync(`${dir}/${protocol}.json`, "utf8"));
  for (const [name, reply] of Object.entries(replies[protocol])) {
    for (const stream of [true, false]) {
      const { stream: _, whole: __, ...want } = reply;
      try {
        const got = await reader(`${url}/${protocol}/${name}`, stream);
        if (!("thinking" in got)) delete want.thinking; // no field of the SDK has it
        deepStrictEqual(got, want);
        read++;
      } catch (err) {
        process.exitCode = 1;
        console.log(`${protocol} ${name} ${stream ? "stream" : "whole"}: ${err.stack}`);
      }
    }
  }
}
server.close();
server.closeAllConnections();
console.log(`${read} replies read`);
