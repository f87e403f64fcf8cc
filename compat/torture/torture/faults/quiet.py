"""No fault at all: what fails here is not the faults' doing."""

ROUNDS, ROUNDS_QUICK = 1, 1
NEEDS = ()


def run(stage):
    stage.set_up()
    stage.wait_for_acks(5 * stage.rounds)
