// Package llm asks models over the chat-completions protocol. A [Router] picks the endpoint of each model from the
// configuration; what is sent is assembled from messages that are encoded already; an answer's usage becomes money by
// the price card.
//
// Retries are made here and nowhere else: openai-go's own are off, because only this package knows that an answer
// that broke off halfway is void.
package llm
