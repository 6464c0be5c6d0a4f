package engine

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// messageEntry returns the entry of a message that enters a history, or stands for a part of one.
func messageEntry(key echo.Key, s effect.Site, m *echo.Message) *echo.Entry {
	return &echo.Entry{NodeType: echo.NodeMessage, Key: key, CascadeID: s.Cascade, Message: m}
}

// payloadEntry returns the entry that says p.
func payloadEntry(key echo.Key, s effect.Site, p echo.Payload) *echo.Entry {
	e := echo.NewEntry(key, p)
	e.CascadeID = s.Cascade
	return e
}
