package clickhouse

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// recordRow is a row of logs, as far as an entry is made of it.
type recordRow struct {
	Seq             uint64    `ch:"seq"`
	At              time.Time `ch:"at"`
	NodeType        string    `ch:"node_type"`
	Key             string    `ch:"key"`
	CascadeID       string    `ch:"cascade_id"`
	Phase           string    `ch:"phase_name"`
	Attempt         int32     `ch:"attempt"`
	Turn            int32     `ch:"turn"`
	Sounding        int32     `ch:"sounding"`
	Role            string    `ch:"role"`
	Kind            string    `ch:"kind"`
	ContentHash     string    `ch:"content_hash"`
	ContentJSON     string    `ch:"content_json"`
	ToolCallsJSON   string    `ch:"tool_calls_json"`
	ToolName        string    `ch:"tool_name"`
	ToolCallID      string    `ch:"tool_call_id"`
	ToolArguments   string    `ch:"tool_arguments"`
	Failed          bool      `ch:"failed"`
	Model           string    `ch:"model"`
	Provider        string    `ch:"provider"`
	Scripted        bool      `ch:"scripted"`
	HasUsage        bool      `ch:"has_usage"`
	TokensIn        int64     `ch:"tokens_in"`
	TokensCached    int64     `ch:"tokens_cached"`
	TokensOut       int64     `ch:"tokens_out"`
	TokensReasoning int64     `ch:"tokens_reasoning"`
	UsageEstimated  bool      `ch:"usage_estimated"`
	CostUSD         *float64  `ch:"cost_usd"`
	DurationMS      float64   `ch:"duration_ms"`
	RequestHash     string    `ch:"request_hash"`
	ErrorKind       string    `ch:"error_kind"`
	Error           string    `ch:"error"`
	DataJSON        string    `ch:"data_json"`
	SelectionJSON   string    `ch:"selection_json"`
}

// selectionRecord is a row of context_selections, as far as a selection is made of it.
type selectionRecord struct {
	Seq             uint64   `ch:"seq"`
	Hash            []string `ch:"hash"`
	Form            []string `ch:"form"`
	Reason          []string `ch:"reason"`
	Tokens          []int64  `ch:"tokens"`
	SentJSON        []string `ch:"sent_json"`
	FullHistorySize int64    `ch:"full_history_size"`
	ContextSize     int64    `ch:"context_size"`
	TokensSaved     int64    `ch:"tokens_saved"`
	MessageCount    int64    `ch:"message_count"`
	MaskedCount     int64    `ch:"masked_count"`
	SharedSize      int64    `ch:"shared_size"`
	FullSharedSize  int64    `ch:"full_shared_size"`
	SentUSD         *float64 `ch:"sent_usd"`
	FullUSD         *float64 `ch:"full_usd"`
	RequestSize     int64    `ch:"request_size"`
	RequestLimit    int64    `ch:"request_limit"`
}

// Record returns the entries of a session as its journal has them. Rows from before schema version 7 have selections that are
// whole and not what changed, and what stood for a message in them is in the words of the model's dialect. missing are the
// keys of the selections that ClickHouse does not have; their entries come without one.
func (db *DB) Record(ctx context.Context, sessionID string) (entries []*echo.Entry, missing []echo.Key, err error) {
	what := "read the record of session " + sessionID
	rows, err := list[recordRow](ctx, db, what, `SELECT seq, at, node_type, key, cascade_id, phase_name, attempt, turn, sounding,
		role, kind, content_hash, content_json, tool_calls_json, tool_name, tool_call_id, tool_arguments, failed, model, provider,
		scripted, has_usage, tokens_in, tokens_cached, tokens_out, tokens_reasoning, usage_estimated, cost_usd, duration_ms,
		request_hash, error_kind, error, data_json, selection_json
		FROM `+db.layout.table("unified_logs")+` FINAL WHERE session_id = ? ORDER BY seq`, sessionID)
	if err != nil {
		return nil, nil, err
	}
	selected, err := list[selectionRecord](ctx, db, what, `SELECT seq, hash, form, reason, tokens, sent_json, full_history_size,
		context_size, tokens_saved, message_count, masked_count, shared_size, full_shared_size, sent_usd, full_usd, request_size, request_limit
		FROM `+db.layout.table("context_selections")+` WHERE session_id = ?`, sessionID)
	if err != nil {
		return nil, nil, err
	}
	selections := map[uint64]*selectionRecord{}
	for i := range selected {
		selections[selected[i].Seq] = &selected[i]
	}
	for i := range rows {
		e, err := rows[i].entry(sessionID)
		if err == nil && e.Selection == nil && selections[e.Seq] != nil {
			e.Selection, err = selections[e.Seq].selection()
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: entry %d (%s): %w", what, rows[i].Seq, rows[i].Key, err)
		}
		if e.NodeType == echo.NodeSelection && e.Selection == nil {
			missing = append(missing, e.Key)
		}
		entries = append(entries, e)
	}
	return entries, missing, nil
}

// entry makes the entry again that the row was made of, without its selection.
func (r *recordRow) entry(sessionID string) (*echo.Entry, error) {
	key, err := echo.ParseKey(r.Key)
	if err != nil {
		return nil, err
	}
	e := &echo.Entry{
		SessionID: sessionID, Seq: r.Seq, At: r.At, NodeType: echo.NodeType(r.NodeType), Key: key, CascadeID: r.CascadeID,
		Phase: r.Phase, Attempt: int(r.Attempt), Turn: int(r.Turn), Sounding: int(r.Sounding), ContentHash: echo.Hash(r.ContentHash),
		Model: r.Model, Provider: r.Provider, Scripted: r.Scripted, CostUSD: r.CostUSD, DurationMS: r.DurationMS, RequestHash: r.RequestHash,
	}
	if r.HasUsage {
		e.Usage = &echo.Usage{
			In: r.TokensIn, Cached: r.TokensCached, Out: r.TokensOut, Reasoning: r.TokensReasoning, Estimated: r.UsageEstimated,
		}
	}
	// A tool's result that no call is recorded with names its tool in the message.
	if e.NodeType == echo.NodeToolCall || r.Role == "" && r.ToolName != "" {
		e.Tool = &echo.ToolUse{Name: r.ToolName, CallID: r.ToolCallID, Arguments: r.ToolArguments}
	}
	if r.ErrorKind != "" || r.Error != "" {
		e.Error = &echo.Failure{Kind: r.ErrorKind, Message: r.Error}
	}
	if r.DataJSON != "" {
		e.Data = json.RawMessage(r.DataJSON)
	}
	if r.SelectionJSON != "" {
		if err := json.Unmarshal([]byte(r.SelectionJSON), &e.Selection); err != nil {
			return nil, fmt.Errorf("read the selection: %w", err)
		}
	}
	if r.Role == "" {
		return e, nil
	}
	m, err := r.message()
	if err != nil {
		return nil, err
	}
	if m.Hash() != e.ContentHash {
		return nil, fmt.Errorf("the content has the hash %s and not %s", m.Hash(), e.ContentHash)
	}
	e.Message = m
	return e, nil
}

func (r *recordRow) message() (*echo.Message, error) {
	w := wireMessage{Role: echo.Role(r.Role), Content: json.RawMessage(r.ContentJSON)}
	if w.Role == echo.RoleTool {
		w.ToolCallID = r.ToolCallID
	}
	if r.ToolCallsJSON != "" {
		if err := json.Unmarshal([]byte(r.ToolCallsJSON), &w.ToolCalls); err != nil {
			return nil, fmt.Errorf("read the tool calls: %w", err)
		}
	}
	d, err := w.draft()
	if err != nil {
		return nil, err
	}
	d.Kind = echo.Kind(r.Kind)
	if d.Role == echo.RoleTool {
		d.Tool, d.Failed = r.ToolName, r.Failed
	}
	return echo.Seal(d), nil
}

// selection makes the selection again, whole: a span for every stretch of messages that are sent in the same form.
func (r *selectionRecord) selection() (*echo.Selection, error) {
	sel := &echo.Selection{
		FullHistorySize: r.FullHistorySize, ContextSize: r.ContextSize, TokensSaved: r.TokensSaved, MessageCount: int(r.MessageCount),
		MaskedCount: int(r.MaskedCount), SharedSize: r.SharedSize, FullSharedSize: r.FullSharedSize, SentUSD: r.SentUSD, FullUSD: r.FullUSD,
		RequestSize: r.RequestSize, Limit: r.RequestLimit,
	}
	var last *echo.Span
	for i, h := range r.Hash {
		full := r.SentJSON[i] == ""
		if last == nil || last.Form != r.Form[i] || last.Reason != r.Reason[i] || (last.Sent == nil) != full {
			sel.Spans = append(sel.Spans, echo.Span{From: i, Form: r.Form[i], Reason: r.Reason[i]})
			last = &sel.Spans[len(sel.Spans)-1]
		}
		last.Count++
		last.Hashes, last.Tokens = append(last.Hashes, echo.Hash(h)), append(last.Tokens, r.Tokens[i])
		if full {
			continue
		}
		sent, err := readMessages(r.SentJSON[i])
		if err != nil {
			return nil, fmt.Errorf("read what was sent for message %d: %w", i+1, err)
		}
		last.Sent = append(last.Sent, sent)
	}
	return sel, nil
}

// readMessages reads what messagesJSON wrote.
func readMessages(text string) ([]*echo.Message, error) {
	var wire []wireMessage
	if err := json.Unmarshal([]byte(text), &wire); err != nil {
		return nil, err
	}
	messages := make([]*echo.Message, len(wire))
	for i, w := range wire {
		d, err := w.draft()
		if err != nil {
			return nil, err
		}
		messages[i] = echo.Seal(d)
	}
	return messages, nil
}

// wireMessage is a message in the shape of the chat-completions protocol.
type wireMessage struct {
	Role       echo.Role       `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// draft returns what the message was made of, as far as the protocol has it.
func (w *wireMessage) draft() (echo.Draft, error) {
	d := echo.Draft{Role: w.Role, ToolCallID: w.ToolCallID}
	for _, c := range w.ToolCalls {
		d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	var text *string
	if json.Unmarshal(w.Content, &text) == nil {
		if text != nil {
			d.Parts = echo.Text(*text)
		}
		return d, nil
	}
	var parts []struct {
		Type     echo.PartType `json:"type"`
		Text     string        `json:"text"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(w.Content, &parts); err != nil {
		return d, fmt.Errorf("read the content: %w", err)
	}
	for _, p := range parts {
		if p.Type == echo.PartText {
			d.Parts = append(d.Parts, echo.Part{Type: echo.PartText, Text: p.Text})
		} else {
			d.Parts = append(d.Parts, echo.Part{Type: echo.PartImage, URL: p.ImageURL.URL})
		}
	}
	return d, nil
}
