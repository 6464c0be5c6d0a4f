// Package llm asks models over the chat-completions protocol. A [Router] picks the endpoint of each
// model from the configuration; the price card turns an answer's usage into money.
//
// Retries are made here and nowhere else: an answer that broke off halfway is void, which openai-go
// does not know.
package llm
