import type { ChatCompletionCreateParams } from "openai/resources/chat/completions";
import type { ResponseCreateParams } from "openai/resources/responses/responses";
import type { MessageCreateParams } from "@anthropic-ai/sdk/resources/messages";
import type { Content, GenerationConfig, SafetySetting, Tool, ToolConfig } from "@google/genai";
import type { ChatRequest, Message, ToolCall } from "ollama";

// The values of an enum stand on the wire as text.
type Wire<T> = T extends string ? `${T}` : T extends (infer U)[] ? Wire<U>[] : T extends object ? { [K in keyof T]: Wire<T[K]> } : T;

export type openai_chat = ChatCompletionCreateParams;
export type openai_responses = ResponseCreateParams;
export type anthropic = MessageCreateParams;
export type gemini = Wire<{
  contents: Content[];
  systemInstruction?: Content;
  tools?: Tool[];
  toolConfig?: ToolConfig;
  safetySettings?: SafetySetting[];
  generationConfig?: GenerationConfig;
  cachedContent?: string;
}>;

// The server's own types (api/types.go) and its guide to tool calling have more
// fields of calls and results than ollama-js: id, type, index, tool_call_id.
type Call = Omit<ToolCall, "function"> & { id?: string; type?: "function"; function: ToolCall["function"] & { index?: number } };
export type ollama = Omit<ChatRequest, "messages"> & {
  messages: (Omit<Message, "tool_calls"> & { tool_calls?: Call[]; tool_call_id?: string })[];
};
