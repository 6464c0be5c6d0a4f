package contextcards

import (
	"context"
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Source is a message of a session for which a card is to be made, with the place where it entered.
type Source struct {
	SessionID string
	Message   *echo.Message
	Phase     string
	Visit     int // of the phase, from 1
	Attempt   int
	Turn      int
	Order     int // running number of the message in its session, from 1: the order of everything
	Callout   string
	At        time.Time
	Retracted bool // a person has taken it back: no search finds it
}

// Worth reports whether a message gets a card: not system messages, not what was brought in from
// other phases, not notices of the engine, and nothing without content.
func (s Source) Worth() bool {
	m := s.Message
	switch m.Kind() {
	case echo.KindSystem, echo.KindContext, echo.KindNotice, echo.KindSummary:
		return false
	}
	hasContent := func(p echo.Part) bool { return p.Text != "" || p.Type == echo.PartImage }
	return m.Role() != echo.RoleSystem && (len(m.ToolCalls()) > 0 || slices.ContainsFunc(m.Parts(), hasContent))
}

// Card describes one message of a session. Its slices are shared: they must not be written to.
type Card struct {
	SessionID string
	Hash      echo.Hash
	Summary   string   // one line of at most 300 characters
	Keywords  []string // at most twelve, by weight, then by place

	Embedding      []float32 // unit length; nil: none
	EmbeddingModel string    // the name of the [Embedder] that was asked; "": none was

	Tokens  int64 // of the message, estimated
	Role    echo.Role
	Phase   string
	Visit   int
	Attempt int
	Turn    int
	Order   int // see [Source]; of a message that entered several times, the first place

	Callout string // its name; "": none
	Anchor  bool   // it was brought in as an anchor at least once

	GeneratedAt time.Time // UTC, microseconds; of two versions of a card the later one counts
	Generator   string    // "message", "shape", "extraction", or the name of a model
	MessageAt   time.Time // UTC, microseconds
	Late        bool      // taken before it was finished; no store keeps it
}

// Summarizer sums up at most [MaxSummaries] messages, which it must not keep: a text for each, ""
// for none. Implementations are safe for concurrent use.
type Summarizer interface {
	Summarize(ctx context.Context, sources []Source) ([]string, error)
	Name() string
}

// Embedder turns texts into vectors of unit length, nil for a text that has nothing to embed.
// Implementations are safe for concurrent use. Vectors of different names are never compared.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Name() string // model and dimensions, such as "text-embedding-3-small@512"
}

// Store keeps cards, one for each session and hash, and embeddings, one for each session, hash and
// embedder. Implementations are safe for concurrent use and pass the tests of cardstest.
type Store interface {
	// Put writes cards, all or none. Per session and hash the newest GeneratedAt counts; an
	// embedding stays beside those of other embedders, also when a card without one follows.
	Put(ctx context.Context, cards []Card) error
	// Cards returns the cards of a session by their order, then by hash. The embedding of each is
	// the one that the card was last written with.
	Cards(ctx context.Context, sessionID string) ([]Card, error)
	// Rank returns the similarity, -1 to 1, of at most limit cards to a vector of any length but
	// zero: the most similar first, then by order and hash. Cards without a vector of this embedder
	// and dimension are left out.
	Rank(ctx context.Context, sessionID, embedder string, vector []float32, limit int) ([]Ranked, error)
}

// Ranked is a card's similarity.
type Ranked struct {
	Hash       echo.Hash
	Similarity float64
}
