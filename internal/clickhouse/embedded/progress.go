package embedded

// Step is a stage on the way to a running engine that takes long enough to be told.
type Step string

// The steps, in the order in which they come. Waiting may come before any of them.
const (
	StepWait     Step = "waiting for another windlass process"
	StepDownload Step = "downloading the ClickHouse engine"
	StepVerify   Step = "checking the engine's integrity"
	StepUnpack   Step = "unpacking the engine"
	StepStart    Step = "starting the engine"
)

// Progress is how far a step is. Done and Total are bytes; Total is 0 where it is not known.
type Progress struct {
	Step  Step
	Done  int64
	Total int64
}

// tell calls a progress function that may be nil.
func tell(progress func(Progress), p Progress) {
	if progress != nil {
		progress(p)
	}
}

// meter is an io.Writer that counts what passes it and tells, at most once per chunk of a hundredth.
type meter struct {
	progress func(Progress)
	state    Progress
	told     int64
}

func (m *meter) Write(b []byte) (int, error) {
	m.state.Done += int64(len(b))
	if step := max(m.state.Total/100, 1<<20); m.state.Done-m.told >= step || m.state.Done == m.state.Total {
		m.told = m.state.Done
		tell(m.progress, m.state)
	}
	return len(b), nil
}
