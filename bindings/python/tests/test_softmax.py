"""bias_softmax: every broadcast that NumPy knows, expressed by the operator or refused."""

import itertools

import numpy
import pytest

import kernelpack
from conftest import softmax

DATA = (3, 4, 5, 6)


def biases(rank):
    for present in itertools.product((False, True), repeat=rank):
        yield tuple(size if here else 1 for size, here in zip(DATA[-rank:], present))


@pytest.mark.parametrize("axis", [-1, 2, 1, 0, -4])
@pytest.mark.parametrize("rank", [1, 2, 3, 4])
def test_every_broadcast(random, axis, rank):
    data = random.standard_normal(DATA, numpy.float32)
    expressed = 0
    for shape in biases(rank):
        bias = random.standard_normal(shape, numpy.float32)
        expected = softmax(data, bias, axis)
        numpy.testing.assert_allclose(kernelpack.bias_softmax(data, bias, axis, expand=True), expected, rtol=2e-6)
        try:
            numpy.testing.assert_allclose(kernelpack.bias_softmax(data, bias, axis), expected, rtol=2e-6)
            expressed += 1
        except kernelpack.ContractError as error:
            assert "repeats neither inner nor outer rows" in str(error) and "expand=True" in str(error)
    assert expressed >= 1 or rank < 4 - axis % 4


def test_dimensions_of_one_do_not_matter(random):
    data = random.standard_normal((2, 1, 3, 1, 4), numpy.float32)
    for shape in ((2, 1, 1, 1, 4), (1, 1, 3, 1, 4), (3, 1, 4), (2, 1, 3, 1, 4), (4,)):
        bias = random.standard_normal(shape, numpy.float32)
        numpy.testing.assert_allclose(kernelpack.bias_softmax(data, bias), softmax(data, bias), rtol=2e-6)


def test_inner_is_taken_at_its_word(random):
    data = random.standard_normal((4, 6), numpy.float32)
    bias = random.standard_normal((2, 6), numpy.float32)
    numpy.testing.assert_allclose(kernelpack.bias_softmax(data, bias, inner=True), softmax(data, bias.repeat(2, 0)),
                                  rtol=2e-6)
    numpy.testing.assert_allclose(kernelpack.bias_softmax(data, bias, inner=False), softmax(data, numpy.tile(bias, (2, 1))),
                                  rtol=2e-6)


def test_other_arrays(random):
    data = memoryview(numpy.ones((2, 4), numpy.float32))
    assert kernelpack.bias_softmax(data, memoryview(numpy.zeros((2, 1), numpy.float32)), expand=True)[1, 3] == 0.25
    half = numpy.ones((2, 4), numpy.float16)
    assert kernelpack.bias_softmax(half, half).dtype == numpy.float16


@pytest.mark.parametrize("bias, axis, text", [
    ((5,), -1, r"does not broadcast"), ((1, 2, 4), -1, "does not broadcast"), ((4,), 2, "outside the dimensions"),
    ((4,), -3, "outside the dimensions"),
])
def test_shapes_that_do_not_fit(bias, axis, text):
    with pytest.raises(kernelpack.ContractError, match=text) as caught:
        kernelpack.bias_softmax(numpy.zeros((2, 4), numpy.float32), numpy.zeros(bias, numpy.float32), axis)
    assert caught.value.where and caught.value.kind == "contract"


def test_what_is_no_array():
    with pytest.raises(TypeError):
        kernelpack.bias_softmax([[1.0]], [[1.0]])
    with pytest.raises(kernelpack.ContractError, match="list"):
        kernelpack.bias_softmax([[1.0]], [[1.0]], inner=True)
    with pytest.raises(kernelpack.ContractError, match="float64"):
        kernelpack.bias_softmax(numpy.zeros((2, 4)), numpy.zeros(4))
