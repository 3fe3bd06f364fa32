/* Each process tells its number, its pid and the sum of all numbers; with an argument it stays. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, size, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d pid %d sum %d\n", rank, size, (int)getpid(), sum);
	fflush(stdout);
	if (argc > 1)
		pause();
	MPI_Finalize();
	return 0;
}
