package contextcards

import (
	"context"
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
}

// Worth reports whether a message gets a card: not system messages, not what was brought in from other phases, not
// notices of the engine, and nothing without content.
func (s Source) Worth() bool {
	m := s.Message
	switch m.Kind() {
	case echo.KindSystem, echo.KindContext, echo.KindNotice, echo.KindSummary:
		return false
	}
	return m.Role() != echo.RoleSystem && (m.Text() != "" || len(m.ToolCalls()) > 0)
}

// Card describes one message of a session.
type Card struct {
	SessionID string
	Hash      echo.Hash
	Summary   string
	Keywords  []string

	Embedding      []float32 // unit length; nil: none
	EmbeddingModel string    // what made it

	Tokens  int64 // of the message, estimated
	Role    echo.Role
	Phase   string
	Visit   int
	Attempt int
	Turn    int
	Order   int // see [Source]

	Callout string // its name; "": none
	Anchor  bool   // it was brought in as an anchor at least once

	GeneratedAt time.Time
	Generator   string // "message", "shape", "extraction", or the name of the model that wrote the summary
	MessageAt   time.Time
	Late        bool // extracted at once, because the card was not ready in time
}

// Summarizer sums messages up in one or two sentences each. Implementations are safe for concurrent use. The result has
// one text for each source; an empty one means that there is none.
type Summarizer interface {
	Summarize(ctx context.Context, sources []Source) ([]string, error)
	Name() string
}

// Embedder turns texts into vectors of unit length. Implementations are safe for concurrent use. Vectors of different
// names are never compared.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	Name() string // model and dimensions, such as "text-embedding-3-small@512"
}

// Store keeps cards. Implementations are safe for concurrent use; writing the same card again changes nothing.
type Store interface {
	Put(ctx context.Context, cards []Card) error
	// Cards returns the cards of a session in their order; of several with the same hash the first.
	Cards(ctx context.Context, sessionID string) ([]Card, error)
	// Rank returns the similarity, -1 to 1, of the session's cards to a vector of the embedder with this name, at most
	// limit of them, the most similar first. Cards without such a vector are left out.
	Rank(ctx context.Context, sessionID, embedder string, vector []float32, limit int) ([]Ranked, error)
}

// Ranked is a card's similarity.
type Ranked struct {
	Hash       echo.Hash
	Similarity float64
}
