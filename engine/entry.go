package engine

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// siteEntry returns an entry with its place filled in.
func siteEntry(t echo.NodeType, key echo.Key, s effect.Site) *echo.Entry {
	return &echo.Entry{NodeType: t, Key: key, CascadeID: s.Cascade}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// mustJSON encodes a value of the engine's own making.
func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("engine: cannot encode its own data: " + err.Error())
	}
	return b
}

// decode reads recorded data; numbers come back as they were.
func decode(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(into)
}
