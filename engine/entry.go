package engine

import (
	"encoding/json"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// messageEntry returns the entry of a message that enters a history, or stands for a part of one.
func messageEntry(key echo.Key, s effect.Site, m *echo.Message) *echo.Entry {
	return &echo.Entry{NodeType: echo.NodeMessage, Key: key, CascadeID: s.Cascade, Message: m}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// payloadEntry returns the entry that says p.
func payloadEntry(key echo.Key, s effect.Site, p echo.Payload) *echo.Entry {
	e := echo.NewEntry(key, p)
	e.CascadeID = s.Cascade
	return e
}

// mustJSON encodes a value of the engine's own making.
func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("engine: cannot encode its own data: " + err.Error())
	}
	return b
}
