package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// Part is what a database has of sessions, as it can be removed by itself.
type Part string

// The parts.
const (
	PartRows  Part = "rows"  // entries, and what calls were sent
	PartCards Part = "cards" // cards and their embeddings
)

// parts are the tables of each part. What makes a session known comes last: a removal that is cut
// short can be made again.
var parts = map[Part][]string{
	PartRows:  {"unified_selections", "unified_logs"},
	PartCards: {"unified_embeddings", "unified_cards"},
}

// removedAtOnce is how many sessions one statement names.
const removedAtOnce = 200

// Remove removes a part of sessions from the tables, and returns when no query finds it any more.
// ClickHouse removes the files some minutes later.
func (db *DB) Remove(ctx context.Context, part Part, sessions []string) error {
	for len(sessions) > 0 {
		n := min(len(sessions), removedAtOnce)
		var names []string
		for _, id := range sessions[:n] {
			names = append(names, quoteString(id))
		}
		sessions = sessions[n:]
		for _, t := range parts[part] {
			sql := "ALTER TABLE " + db.layout.local(t) + db.layout.onCluster() +
				" DELETE WHERE session_id IN (" + strings.Join(names, ", ") + ") SETTINGS mutations_sync = 2"
			if err := db.conn.Exec(ctx, sql); err != nil {
				return fmt.Errorf("remove %s of sessions from ClickHouse: %w", part, sqlError(err))
			}
		}
	}
	return nil
}

// RemoveCards removes the cards and embeddings of some messages of a session, as [DB.Remove] does.
func (db *DB) RemoveCards(ctx context.Context, session string, messages []echo.Hash) error {
	if len(messages) == 0 {
		return nil
	}
	names := make([]string, len(messages))
	for i, h := range messages {
		names[i] = quoteString(string(h))
	}
	for _, t := range parts[PartCards] {
		sql := "ALTER TABLE " + db.layout.local(t) + db.layout.onCluster() + " DELETE WHERE session_id = " + quoteString(session) +
			" AND content_hash IN (" + strings.Join(names, ", ") + ") SETTINGS mutations_sync = 2"
		if err := db.conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("remove cards of session %s from ClickHouse: %w", session, sqlError(err))
		}
	}
	return nil
}

// IsBefore reports whether the database has rows of a session that are from before a message of it
// was redacted: the start of the run, which has the header of the journal, does not say it.
func (db *DB) IsBefore(ctx context.Context, session string, redacted echo.Hash) (bool, error) {
	var rows uint64
	sql := "SELECT countIf(NOT has(arrayMap(r -> JSONExtractString(r, 'hash'), JSONExtractArrayRaw(data_json, 'header', 'redactions')), ?)) FROM " +
		db.layout.table("unified_logs") + " WHERE session_id = ? AND node_type = 'run_start'"
	if err := db.conn.QueryRow(ctx, sql, string(redacted), session).Scan(&rows); err != nil {
		return false, fmt.Errorf("query ClickHouse for the redactions of session %s: %w", session, sqlError(err))
	}
	return rows > 0, nil
}

// Having returns the ids of the sessions of which the database has a part.
func (db *DB) Having(ctx context.Context, part Part) (map[string]bool, error) {
	ids := map[string]bool{}
	for _, t := range parts[part] {
		err := eachRow(ctx, db, "SELECT DISTINCT session_id FROM "+db.layout.table(t), func(rows rowSource) error {
			var id string
			err := rows.Scan(&id)
			ids[id] = true
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("list the sessions with %s: %w", part, err)
		}
	}
	return ids, nil
}

// RedactCards puts cards without a text and without an embedding in place of those of messages that
// were redacted. It may be called again.
func (db *DB) RedactCards(ctx context.Context, session string, messages []echo.Hash) error {
	store := NewCards(func(context.Context) (*DB, error) { return db, nil })
	all, err := store.Summaries(ctx, session)
	if err != nil {
		return err
	}
	var cards []contextcards.Card
	var hashes []echo.Hash
	for _, c := range all {
		text := fmt.Sprintf("[redacted %s]", c.Hash)
		if !slices.Contains(messages, c.Hash) || c.Summary == text && c.EmbeddingModel == "" {
			continue
		}
		c.Summary, c.Keywords, c.Embedding, c.EmbeddingModel, c.Generator = text, nil, nil, "", "message"
		cards, hashes = append(cards, c), append(hashes, c.Hash)
	}
	if err := db.RemoveCards(ctx, session, hashes); err != nil {
		return err
	}
	return store.Put(ctx, cards)
}
