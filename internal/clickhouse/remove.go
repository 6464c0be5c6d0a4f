package clickhouse

import (
	"context"
	"fmt"
	"strings"
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
