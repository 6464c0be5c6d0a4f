package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// Cards keeps the cards of sessions in a database. It implements [contextcards.Store] and is safe
// for concurrent use. Embeddings, of several models next to each other, have a table of their own,
// which is written first: whoever sees a card finds its embedding.
type Cards struct {
	open func(context.Context) (*DB, error) // nil: closed
	turn chan struct{}                      // holds a token; whoever has it may open the database
	db   *DB
}

// NewCards returns a store, to be closed, in a database that is opened when it is used.
func NewCards(open func(context.Context) (*DB, error)) *Cards {
	c := &Cards{open: open, turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	return c
}

var errCardsClosed = errors.New("the card store is closed")

// database returns the open database. One of several callers opens it; the others wait.
func (c *Cards) database(ctx context.Context) (*DB, error) {
	select {
	case <-c.turn:
	default: // somebody is at it
		select {
		case <-c.turn:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for ClickHouse to open: %w", context.Cause(ctx))
		}
	}
	defer func() { c.turn <- struct{}{} }()
	if c.db != nil {
		return c.db, nil
	}
	if c.open == nil {
		return nil, errCardsClosed
	}
	db, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	c.db = db
	return db, nil
}

// lost lets go of a database that does not answer any more, so that the next use opens it anew: an
// embedded engine that has died comes back at another address. It returns the error.
func (c *Cards) lost(ctx context.Context, db *DB, err error) error {
	if err == nil || ended(ctx) != nil || !isGone(err) {
		return err
	}
	select {
	case <-c.turn:
	default:
		return err // somebody is at it
	}
	defer func() { c.turn <- struct{}{} }()
	if c.db == db {
		c.db = nil
		_ = db.Close() // there is nothing to say goodbye to; who still uses a connection keeps it
	}
	return err
}

// Close ends the use of the database. Calls after it fail.
func (c *Cards) Close() error {
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	db := c.db
	c.db, c.open = nil, nil
	if db == nil {
		return nil
	}
	return db.Close()
}

// Put writes cards, and their embeddings before them. When it fails between the two, writing them
// again completes them; until then the old cards stay, and are ranked by the new embeddings.
func (c *Cards) Put(ctx context.Context, cards []contextcards.Card) error {
	if len(cards) == 0 {
		return nil
	}
	db, err := c.database(ctx)
	if err != nil {
		return fmt.Errorf("write %d cards: %w", len(cards), err)
	}
	if db.layout.cluster != "" { // wait for the nodes, so that a ranking that follows has the cards
		ctx = driver.Context(ctx, driver.WithSettings(driver.Settings{"distributed_foreground_insert": 1}))
	}
	var all, embedded []*contextcards.Card
	for i := range cards {
		all = append(all, &cards[i])
		if len(cards[i].Embedding) > 0 {
			embedded = append(embedded, &cards[i])
		}
	}
	if err = writeRows(ctx, db, newEncoder(embeddingTable()), embedded, (*cardRow).set); err == nil {
		err = writeRows(ctx, db, newEncoder(cardTable()), all, (*cardRow).set)
	}
	if err != nil {
		return fmt.Errorf("write %d cards: %w", len(cards), sqlError(c.lost(ctx, db, err)))
	}
	return nil
}

// Cards returns the cards of a session with their embeddings.
func (c *Cards) Cards(ctx context.Context, sessionID string) ([]contextcards.Card, error) {
	rows, err := c.read(ctx, sessionID)
	if err != nil {
		return nil, err
	}
	if err := c.addEmbeddings(ctx, sessionID, rows); err != nil {
		return nil, fmt.Errorf("read the embeddings of session %s: %w", sessionID, err)
	}
	return inOrder(rows), nil
}

// Summaries returns the cards of a session without their embeddings.
func (c *Cards) Summaries(ctx context.Context, sessionID string) ([]contextcards.Card, error) {
	rows, err := c.read(ctx, sessionID)
	return inOrder(rows), err
}

// inOrder sorts cards, which takes the server longer than all else about a row.
func inOrder(rows []cardRow) []contextcards.Card {
	slices.SortFunc(rows, func(a, b cardRow) int { return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Hash, b.Hash)) })
	var cards []contextcards.Card
	for i := range rows {
		cards = append(cards, rows[i].Card)
	}
	return cards
}

func (c *Cards) read(ctx context.Context, sessionID string) (rows []cardRow, err error) {
	t, current := cardTable(), cardRow{}
	into := t.destinations(&current)
	err = c.query(ctx, func(db *DB) string {
		return "SELECT " + t.selected() + " FROM " + db.layout.table(t.name) + " FINAL WHERE session_id = ?"
	}, func(row rowSource) error {
		if err := row.Scan(into...); err != nil {
			return err
		}
		card, err := current.restored()
		rows = append(rows, card)
		return err
	}, sessionID)
	if err != nil {
		return nil, fmt.Errorf("read the cards of session %s: %w", sessionID, err)
	}
	return rows, nil
}

// addEmbeddings gives every card the embedding that it was last written with.
func (c *Cards) addEmbeddings(ctx context.Context, sessionID string, cards []cardRow) error {
	type key struct {
		hash  echo.Hash
		model string
	}
	at := map[key]*contextcards.Card{}
	for i := range cards {
		if cards[i].dimensions > 0 {
			at[key{cards[i].Hash, cards[i].EmbeddingModel}] = &cards[i].Card
		}
	}
	if len(at) == 0 {
		return nil
	}
	return c.query(ctx, func(db *DB) string {
		return `SELECT content_hash, embedding_model, formatRow('RowBinary', embedding)
			FROM ` + db.layout.table("unified_embeddings") + ` FINAL WHERE session_id = ?`
	}, func(row rowSource) error {
		var hash, model, packed string
		if err := row.Scan(&hash, &model, &packed); err != nil {
			return err
		}
		card := at[key{echo.Hash(hash), model}]
		if card == nil {
			return nil
		}
		var err error
		if card.Embedding, err = unpackVector(packed); err != nil {
			return fmt.Errorf("the embedding of message %s: %w", hash, err)
		}
		return nil
	}, sessionID)
}

// Rank compares a vector with every card of the session, exactly. Messages are put in order only
// when similarities are equal: joining the cards would double the time.
func (c *Cards) Rank(ctx context.Context, sessionID, embedder string, vector []float32, limit int) ([]contextcards.Ranked, error) {
	literal, ok := vectorLiteral(vector)
	if !ok || limit <= 0 {
		return nil, nil
	}
	ranked, err := c.similar(ctx, sessionID, embedder, literal, len(vector), limit)
	if err == nil && hasTies(ranked) {
		err = c.settleTies(ctx, sessionID, ranked)
	}
	if err != nil {
		return nil, fmt.Errorf("rank the cards of session %s: %w", sessionID, err)
	}
	return ranked[:min(limit, len(ranked))], nil
}

func hasTies(ranked []contextcards.Ranked) bool {
	for i := 1; i < len(ranked); i++ {
		if ranked[i].Similarity == ranked[i-1].Similarity {
			return true
		}
	}
	return false
}

func (c *Cards) similar(ctx context.Context, sessionID, embedder, literal string, dimensions, limit int) (ranked []contextcards.Ranked, err error) {
	err = c.query(ctx, func(db *DB) string {
		return `SELECT content_hash, 1 - cosineDistance(embedding, ` + literal + `) AS similarity
			FROM ` + db.layout.table("unified_embeddings") + ` FINAL
			WHERE session_id = ? AND embedding_model = ? AND dimensions = ?
			ORDER BY similarity DESC LIMIT ? WITH TIES`
	}, func(row rowSource) error {
		var hash string
		var similarity float64
		if err := row.Scan(&hash, &similarity); err != nil {
			return err
		}
		if !math.IsNaN(similarity) { // a vector of zeros; these come last
			ranked = append(ranked, contextcards.Ranked{Hash: echo.Hash(hash), Similarity: min(max(similarity, -1), 1)})
		}
		return nil
	}, sessionID, embedder, dimensions, limit)
	return ranked, err
}

func (c *Cards) settleTies(ctx context.Context, sessionID string, ranked []contextcards.Ranked) error {
	orders := make(map[echo.Hash]int64, len(ranked))
	err := c.query(ctx, func(db *DB) string {
		return "SELECT content_hash, message_order FROM " + db.layout.table("unified_cards") + " FINAL WHERE session_id = ?"
	}, func(row rowSource) error {
		var hash string
		var order int64
		err := row.Scan(&hash, &order)
		orders[echo.Hash(hash)] = order
		return err
	}, sessionID)
	slices.SortFunc(ranked, func(a, b contextcards.Ranked) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(orders[a.Hash], orders[b.Hash]), cmp.Compare(a.Hash, b.Hash))
	})
	return err
}

func (c *Cards) query(ctx context.Context, sql func(*DB) string, take func(rowSource) error, args ...any) error {
	db, err := c.database(ctx)
	if err != nil {
		return err
	}
	return brief(c.lost(ctx, db, eachRow(ctx, db, sql(db), take, args...)))
}

const maxSQLError = 300

func brief(err error) error {
	var se *SQLError
	if errors.As(err, &se) && len(se.Message) > maxSQLError {
		se.Message = strings.ToValidUTF8(se.Message[:maxSQLError], "") + " ..."
	}
	return err
}
