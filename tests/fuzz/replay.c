/* replay.c - runs a fuzz target on every file of the folders named, as a plain test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return 0;
    size_t room = (size_t)16 << 20;
    uint8_t *data = malloc(room);
    size_t size = data ? fread(data, 1, room, f) : 0;
    fclose(f);
    /* An exact copy, so that a sanitizer sees a read past the end. */
    uint8_t *exact = malloc(size ? size : 1);
    if (data && exact) {
        for (size_t i = 0; i < size; i++)
            exact[i] = data[i];
        LLVMFuzzerTestOneInput(exact, size);
    }
    free(exact);
    free(data);
    return 1;
}

int main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        DIR *d = opendir(argv[i]);
        for (struct dirent *e; d && (e = readdir(d));) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            if (e->d_name[0] != '.')
                run_file(path) ? passed++ : failed++;
        }
        if (d)
            closedir(d);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return passed == 0 || failed > 0;
}
