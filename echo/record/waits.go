package record

import "github.com/windlass-run/windlass/echo"

// OpenWaits returns the waits of a session that have no answer, in the order in which they began.
func OpenWaits(entries []*echo.Entry) []*echo.Entry {
	open := map[echo.Key]*echo.Entry{}
	var order []echo.Key
	for _, e := range Counted(entries) {
		switch e.NodeType { //nolint:exhaustive // the others are no waits
		case echo.NodeWait:
			open[e.Key] = e
			order = append(order, e.Key)
		case echo.NodeAnswer:
			delete(open, e.Key)
		}
	}
	var out []*echo.Entry
	for _, key := range order {
		if e := open[key]; e != nil {
			out = append(out, e)
			delete(open, key)
		}
	}
	return out
}
