package clickhouse

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// comments.tsv has what every column of every table and view means: table, column, sentence. A test
// makes it of docs/sql.md.
//
//go:embed comments.tsv
var commentsText string

// columnComments are the comments of a table or a view, in the order of its columns.
type columnComments struct {
	table    string
	comments [][2]string // column, sentence
}

func allComments() (all []columnComments) {
	for line := range strings.Lines(commentsText) {
		table, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		column, sentence, _ := strings.Cut(rest, "\t")
		if len(all) == 0 || all[len(all)-1].table != table {
			all = append(all, columnComments{table: table})
		}
		last := &all[len(all)-1]
		last.comments = append(last.comments, [2]string{column, sentence})
	}
	return all
}

// commentColumns returns the statements that give all columns their comments. They may be run again,
// and leave out columns that are not there.
func (l layout) commentColumns() (statements []string) {
	stored := []string{"schema_migrations"}
	for _, t := range tables() {
		stored = append(stored, t.name)
	}
	for _, of := range allComments() {
		parts := make([]string, len(of.comments))
		for i, c := range of.comments {
			parts[i] = "COMMENT COLUMN IF EXISTS " + c[0] + " " + quoteString(c[1])
		}
		names := []string{l.table(of.table)}
		if l.cluster != "" && slices.Contains(stored, of.table) {
			names = append(names, l.local(of.table))
		}
		for _, name := range names {
			statements = append(statements, "ALTER TABLE "+name+l.onCluster()+" "+strings.Join(parts, ", "))
		}
	}
	return statements
}

// comment gives the columns their comments. A view that another process replaces meanwhile gets them
// there; a user who may not write comments goes without.
func (l layout) comment(ctx context.Context, conn driver.Conn) error {
	return writeComments(ctx, conn, l.commentColumns())
}

func writeComments(ctx context.Context, conn driver.Conn, statements []string) error {
	for _, s := range statements {
		if err := conn.Exec(ctx, s); err != nil && !isReplaced(err) && !hasCode(err, codeAccessDenied) {
			return err
		}
	}
	return nil
}

// isReplaced reports whether a view could not be changed because it was replaced at that moment.
func isReplaced(err error) bool {
	return hasCode(err, codeUnknownTable, codeNoFile, codeTableIsDropped, codeTableIsRenamed, codeRenameFailed)
}
