package autocontext

// stand puts the message at an index in the place of the one before it of its kind, which is in no later request: what stands at
// the end of requests moves on with them, behind all that a prefix cache can keep.
func stand(d *draft, at int) {
	kind := d.nodes[at].msg.Kind()
	for i := at - 1; i >= 0; i-- {
		n := &d.nodes[i]
		if n.msg.Kind() != kind || n.replaced {
			continue
		}
		n.replaced = true
		d.resize(n, 0) // full history would have only the newest
		if d.cut < 0 || i < d.cut {
			d.cut = i
		}
		d.refresh(i)
		return
	}
}
