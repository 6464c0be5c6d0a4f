// Package llm asks models over the chat-completions protocol. A [Router] picks each model's
// endpoint from the configuration. Retries are made here only: openai-go does not know that an
// answer that broke off is void.
package llm
