package contextcards

import (
	"context"
	"fmt"
)

// draft is a card that is being made.
type draft struct {
	key    key
	item   *item
	source Source
	card   Card

	summary, embedding bool // what it is to get from a model
}

// maker makes cards with a summarizer and an embedder, as far as these work.
type maker struct {
	options    Options
	notices    *notices
	summarizer component
	embedder   component
}

// maxTries bounds how often the summarizer is asked about a message: it may be the message that it
// fails at.
const maxTries = 3

// needsSummary reports whether the summarizer should be asked. The lock is held.
func (m *maker) needsSummary(it *item, c *Card) bool {
	return m.options.Summarizer != nil && (c.Generator == "" || c.Generator == GeneratorExtraction) &&
		it.tries < maxTries && needsModel(it.source.Message) && m.summarizer.ready(m.options.Now())
}

// needsEmbedding reports whether the embedder should be asked: also when the card has an embedding
// of another one.
func (m *maker) needsEmbedding(c *Card) bool {
	return m.options.Embedder != nil && c.EmbeddingModel != m.options.Embedder.Name() && m.embedder.ready(m.options.Now())
}

// extract is [Extract] without secrets. The card is found by the hash of the message as it is in
// the session.
func (m *maker) extract(s Source) Card {
	c := Extract(m.options.source(s), m.options.Now())
	c.Hash = s.Message.Hash()
	return c
}

// make makes the cards of a batch.
func (m *maker) make(ctx context.Context, batch []*draft) {
	for _, d := range batch {
		if d.card.Hash == "" {
			d.card = Extract(d.source, m.options.Now())
			d.card.Hash = d.key.hash
		}
	}
	m.summarize(ctx, batch)
	m.embed(ctx, batch)
}

// summarize has the summarizer sum up those of a batch that it should. Without an answer they stay
// extracted.
func (m *maker) summarize(ctx context.Context, batch []*draft) {
	var asked []*draft
	var sources []Source
	for _, d := range batch {
		if d.summary {
			asked, sources = append(asked, d), append(sources, d.source)
		}
	}
	if len(asked) == 0 {
		return
	}
	s := m.options.Summarizer
	texts, err := ask(ctx, m, &m.summarizer, func(ctx context.Context) ([]string, error) {
		texts, err := s.Summarize(ctx, sources)
		if err == nil && len(texts) != len(sources) {
			err = fmt.Errorf("it returned %d summaries for %d messages", len(texts), len(sources))
		}
		return texts, err
	})
	if err != nil {
		m.missing(ctx, &m.summarizer, fmt.Sprintf("summaries are extracted from the messages until %s works again: %v", s.Name(), err))
		return
	}
	for i, d := range asked {
		if text := oneLine(texts[i], maxSummary); text != "" {
			d.card.Summary, d.card.Generator = text, s.Name()
		}
	}
}

// embed has the embedder embed those of a batch that lack it.
func (m *maker) embed(ctx context.Context, batch []*draft) {
	var asked []*draft
	var texts []string
	for _, d := range batch {
		if d.embedding {
			asked, texts = append(asked, d), append(texts, EmbedText(d.source.Message, d.card.Summary))
		}
	}
	if len(asked) == 0 {
		return
	}
	e := m.options.Embedder
	vectors, err := ask(ctx, m, &m.embedder, func(ctx context.Context) ([][]float32, error) {
		vectors, err := e.Embed(ctx, texts)
		if err == nil && len(vectors) != len(texts) {
			err = fmt.Errorf("it returned %d vectors for %d texts", len(vectors), len(texts))
		}
		return vectors, err
	})
	if err != nil {
		m.missing(ctx, &m.embedder, fmt.Sprintf("cards have no embedding until %s works again: %v", e.Name(), err))
		return
	}
	for i, d := range asked {
		// The name stands even when there is nothing to embed: it was asked, and need not be again.
		d.card.Embedding, d.card.EmbeddingModel = unit(vectors[i]), e.Name()
	}
}

// missing notes that a component did not do its part, unless that was because the pipeline ends.
func (m *maker) missing(ctx context.Context, c *component, detail string) {
	if ctx.Err() != nil {
		return
	}
	c.failed(m.options.Now())
	m.notices.tell(c.kind, detail)
}
