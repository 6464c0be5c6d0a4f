package clickhouse

import "github.com/windlass-run/windlass/echo"

// sizes are what both tables have of a selection, in tokens and in money.
type sizes struct {
	echo.Selection

	messages, masked int64
}

func sizesOf(s *echo.Selection) sizes {
	return sizes{Selection: *s, messages: int64(s.MessageCount), masked: int64(s.MaskedCount)}
}

func sizeColumns() []column[sizes] {
	return []column[sizes]{
		{"full_history_size", "Int64", func(s *sizes) any { return &s.FullHistorySize }},
		{"context_size", "Int64", func(s *sizes) any { return &s.ContextSize }},
		{"tokens_saved", "Int64", func(s *sizes) any { return &s.TokensSaved }},
		{"message_count", "Int64", func(s *sizes) any { return &s.messages }},
		{"masked_count", "Int64", func(s *sizes) any { return &s.masked }},
		{"shared_size", "Int64", func(s *sizes) any { return &s.SharedSize }},
		{"full_shared_size", "Int64", func(s *sizes) any { return &s.FullSharedSize }},
		{"sent_usd", "Nullable(Float64)", func(s *sizes) any { return &s.SentUSD }},
		{"full_usd", "Nullable(Float64)", func(s *sizes) any { return &s.FullUSD }},
		{"request_size", "Int64", func(s *sizes) any { return &s.RequestSize }},
		{"request_limit", "Int64", func(s *sizes) any { return &s.Limit }},
	}
}
