package clickhouse

import (
	"context"
	"fmt"
)

// WinningRewrites returns the newest rewrites of instructions that have won in phases of a species, each
// text once, limit at most: also one that a fork has copied.
func WinningRewrites(ctx context.Context, db *DB, phase, species string, limit int) ([]string, error) {
	rows, err := db.conn.Query(ctx, `SELECT rewritten FROM `+db.layout.table("soundings")+`
		WHERE phase_name = ? AND species = ? AND is_winner AND mutation_mode = 'rewrite' AND rewritten != ''
		GROUP BY rewritten ORDER BY max(at) DESC, rewritten LIMIT ?`, phase, species, limit)
	if err != nil {
		return nil, queryError(ctx, err)
	}
	defer func() { _ = rows.Close() }() // what went wrong is in Err
	var texts []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, fmt.Errorf("read winning rewrites: %w", err)
		}
		texts = append(texts, text)
	}
	if err := rows.Err(); err != nil {
		return nil, queryError(ctx, err)
	}
	return texts, nil
}
