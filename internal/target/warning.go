package target

// MiniredisWarning goes with every figure that miniredis served.
const MiniredisWarning = "miniredis is a stand-in for tests; its figures are no basis for choosing a client"
