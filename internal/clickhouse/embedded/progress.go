package embedded

import "github.com/windlass-run/windlass/internal/fetch"

// Step is a stage on the way to a running engine that takes long enough to be told.
type Step = fetch.Step

// The steps, in the order in which they come. Waiting may come before any of them.
const (
	StepWait     Step = "waiting for another windlass process"
	StepDownload Step = "downloading the ClickHouse engine"
	StepVerify   Step = "checking the engine's integrity"
	StepUnpack   Step = "unpacking the engine"
	StepStart    Step = "starting the engine"
)

// Progress is how far a step is.
type Progress = fetch.Progress
