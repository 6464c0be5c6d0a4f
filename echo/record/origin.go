package record

import (
	"bytes"
	"encoding/json"

	"github.com/windlass-run/windlass/echo"
)

// Origin says of which session a fork has the first entries, and up to which. The zero value is that
// of a session that is no fork.
type Origin struct {
	Session string
	Upto    uint64 // number of the last entry that it was to have of it
}

// Has reports whether an entry was copied.
func (o *Origin) Has(e *echo.Entry) bool { return e.Seq <= o.Upto }

// OriginOf returns the origin of the session that a run_start begins, as the header in it says.
func OriginOf(start *echo.Entry) Origin {
	if !bytes.Contains(start.Data, []byte(`"parent_seq"`)) { // most are no forks, and headers have a whole cascade
		return Origin{}
	}
	d, err := echo.Read[echo.RunStart](start)
	if err != nil {
		return Origin{}
	}
	var header struct {
		Parent string `json:"parent"`
		Upto   uint64 `json:"parent_seq"`
	}
	if json.Unmarshal(d.Header, &header) != nil || header.Parent == "" {
		return Origin{}
	}
	return Origin{Session: header.Parent, Upto: header.Upto}
}
