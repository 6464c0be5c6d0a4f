package command

// NewCapture returns a Capture that keeps at most limit bytes.
func NewCapture(limit int) *Capture { return &Capture{limit: limit} }
