package clickhouse

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ClickHouse/ch-go/proto"
	columns "github.com/ClickHouse/clickhouse-go/v2/lib/column"
	"github.com/stretchr/testify/require"
)

// listColumns are the columns of lists, with the value that a cell has in each.
var listColumns = []struct {
	sql   string
	value func(*cell) any
}{
	{"Array(UInt64)", func(c *cell) any { return c.seq }},
	{"Array(String)", func(c *cell) any { return c.hash }},
	{"Array(LowCardinality(String))", func(c *cell) any { return c.form }},
	{"Array(LowCardinality(String))", func(c *cell) any { return c.reason }},
	{"Array(Int64)", func(c *cell) any { return c.tokens }},
	{"Array(String)", func(c *cell) any { return c.sent }},
}

func driverColumn(t *testing.T, sql string) columns.Interface {
	t.Helper()
	col, err := columns.Type(sql).Column("x", &columns.ServerContext{})
	require.NoError(t, err)
	return col
}

// sent is what a server reads of a column.
func sent(t *testing.T, col columns.Interface, rows int) (values []any) {
	t.Helper()
	var wire proto.Buffer
	col.Encode(&wire)
	again := driverColumn(t, string(col.Type()))
	require.NoError(t, again.Decode(wire.Reader(), rows))
	for i := range rows {
		values = append(values, again.Row(i, false))
	}
	return values
}

// TestListsAreWhatTheDriverWouldSend makes rows that grow, shrink and change, batch after batch with
// the same lists, and holds each column against the one that the driver makes value by value.
func TestListsAreWhatTheDriverWouldSend(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, names := range []int{3, 300} { // keys of 8 bits and of more
		var l cellLists
		for range 10 {
			rows := randomRows(r, names)
			l.reset(rows)
			for _, x := range rows {
				l.add(x.selected.cells)
			}
			for i, from := range l.all() {
				want, got := driverColumn(t, listColumns[i].sql), driverColumn(t, listColumns[i].sql)
				for _, x := range rows {
					var values []any
					for _, c := range x.selected.cells {
						values = append(values, listColumns[i].value(c))
					}
					require.NoError(t, want.AppendRow(values))
				}
				require.NoError(t, l.give(got, listColumns[i].sql+" CODEC(ZSTD(3))", from))
				require.Equal(t, want.Rows(), got.Rows())
				require.Equal(t, sent(t, want, len(rows)), sent(t, got, len(rows)))
			}
		}
	}
}

func randomRows(r *rand.Rand, names int) []*row {
	rows := make([]*row, r.IntN(8))
	var cells []*cell
	for i := range rows {
		cells = append([]*cell{}, cells[:r.IntN(len(cells)+1)]...)
		for range r.IntN(500) {
			c := &cell{seq: r.Uint64(), hash: fmt.Sprintf("%016x", r.Uint64()), tokens: r.Int64(), form: fmt.Sprint(r.IntN(names)), reason: fmt.Sprint(r.IntN(2))}
			if r.IntN(3) == 0 {
				c.sent = fmt.Sprintf("[%0*d]", r.IntN(300), 0)
			}
			if r.IntN(9) == 0 {
				c.form, c.hash = "", ""
			}
			cells = append(cells, c)
		}
		rows[i] = &row{selected: &selected{cells: cells}}
	}
	return rows
}

func TestListsOfAnotherTypeAreRefused(t *testing.T) {
	t.Parallel()
	var l cellLists
	require.EqualError(t, l.give(driverColumn(t, "Array(Int32)"), "Array(Int64)", &l.tokens), "the column x is Array(Int32) and not Array(Int64)")
}
