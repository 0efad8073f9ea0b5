/* Ask the process that answers the hooks of a store; where there is none, become the hook.
 *
 *     hook-x86_64 PYTHON -I -S .../eventlog/hook.py --agent NAME --event EVENT [--store DIR]
 *
 * Nobody at the socket: the words are executed before anything was read, so the hook is what it was without us. Else
 * the payload is copied into memory and handed over, with the directory, the environment and the time of the call. The
 * answer counts once the process that gave it has ended, as a hook has. If it does not accept the call, or dies or is
 * stopped before it has answered, the hook follows with the same payload and `--again`: what is in the log already is
 * not recorded twice, whoever of the two is first.
 *
 * The other side, and what it refuses: eventlog/hooks/live.py.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef PATIENCE
#define PATIENCE 100 /* milliseconds until a call must be accepted */
#endif
/* milliseconds; the first two and the last are those of eventlog/hooks/deadline.py */
enum { STDIN = 600, READ = 1200, LOOK = 100, ACCEPTED = PATIENCE, ENDED = 40 * PATIENCE };
enum { LARGEST = 160 << 10 }; /* bytes of a request or an answer: what a socket takes at once */

static char **hook;
static long long began; /* nanoseconds of the monotonic clock, which Python reads too */
static char packet[LARGEST];
static struct ucred other; /* the process at the socket */

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* Become the hook, with what was read of the payload (-1: nothing was); `again` if another may have recorded it. */
static _Noreturn void become(int payload, int again)
{
    if (payload >= 0) {
        lseek(payload, 0, SEEK_SET);
        dup2(payload, 0);
    }
    if (again) {
        size_t words = 0;
        while (hook[words])
            words++;
        char **longer = calloc(words + 3, sizeof *longer);
        if (longer) {
            memcpy(longer, hook, words * sizeof *longer);
            longer[words] = "--again";
            longer[words + 1] = "1";
            hook = longer;
        }
    }
    execv(hook[0], hook);
    _exit(127);
}

/* Name the cache of the store, as `Store.locate` does where it is simple; 0 where it is not. */
static int name_cache(char *path, size_t size)
{
    const char *store = NULL, *base = getenv("HOME"), *moved = getenv("EVENTLOG_HOME");
    for (char **word = hook; *word; word++)
        if (!strcmp(*word, "--store") && word[1])
            store = word[1];
    if (!store && moved && *moved)
        store = moved;
    else if (store && *store != '/')
        return 0;
    if (!store)
        store = ".eventlog";
    if (*store == '~' || strpbrk(store, " \t\n"))
        return 0;
    if (*store == '/')
        return snprintf(path, size, "%s/cache", store) < (int)size;
    return base && *base == '/' && snprintf(path, size, "%s/%s/cache", base, store) < (int)size;
}

/* Connect to the socket in the cache, of a process of the same user; -1 where there is none. */
static int reach(const char *cache)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof other;
    size_t room = sizeof address.sun_path;
    if (snprintf(address.sun_path, room, "%s/live/socket", cache) >= (int)room) {
        int directory = open(cache, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (directory < 0)
            return -1;
        snprintf(address.sun_path, room, "/proc/self/fd/%d/live/socket", directory);
    }
    int server = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server < 0 || connect(server, (struct sockaddr *)&address, sizeof address))
        return -1;
    if (getsockopt(server, SOL_SOCKET, SO_PEERCRED, &other, &length) || other.uid != geteuid())
        return -1;
    return server;
}

/* Wait until something can be read, or until a time; returns whether it can. */
static int wait_for(int fd, long long until)
{
    struct pollfd waited = {.fd = fd, .events = POLLIN};
    for (;;) {
        long long left = (until - now()) / 1000000;
        int ready = poll(&waited, 1, left > 0 ? (int)left : 0);
        if (ready >= 0 || errno != EINTR)
            return ready > 0;
    }
}

/* Copy the payload into memory: until the host closes its end, or as long as the hook would wait for it. */
static int copy_payload(void)
{
    static char part[1 << 16];
    long long until = began + STDIN * 1000000LL, last = began + READ * 1000000LL;
    int payload = memfd_create("payload", MFD_CLOEXEC);
    if (payload < 0)
        become(-1, 0);
    while (wait_for(0, until)) {
        ssize_t size = read(0, part, sizeof part);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            break;
        for (ssize_t at = 0, done; at < size; at += done)
            if ((done = write(payload, part + at, size - at)) <= 0)
                become(payload, 0);
        until = now() + STDIN * 1000000LL;
        until = until < last ? until : last;
    }
    lseek(payload, 0, SEEK_SET);
    return payload;
}

static char *append(char *end, const char *word)
{
    size_t size = strlen(word) + 1;
    if (!end || size > (size_t)(packet + LARGEST - end))
        return NULL;
    return (char *)memcpy(end, word, size) + size;
}

/* Hand the call over; returns whether the socket took it whole. */
static int send_call(int server, int payload)
{
    char numbers[80], *end = packet;
    int words = 0, fds[2] = {payload, open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
    while (hook[words])
        words++;
    snprintf(numbers, sizeof numbers, "%lld %d %d", began, (int)getppid(), words);
    end = append(append(end, "eventlog 1"), numbers);
    for (char **word = hook; *word; word++)
        end = append(end, *word);
    for (char **variable = environ; *variable; variable++)
        end = append(end, *variable);
    if (!end || fds[1] < 0)
        return 0;
    char control[CMSG_SPACE(sizeof fds)] = {0};
    struct iovec data = {packet, (size_t)(end - packet)};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(rights), fds, sizeof fds);
    return sendmsg(server, &message, MSG_NOSIGNAL) >= 0;
}

/* Return whether the process at the socket is stopped (proc(5), stat): it answers once somebody lets it go on. */
static int is_stopped(void)
{
    char path[32], stat[256], *end = NULL;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)other.pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, stat, sizeof stat - 1);
    if (size > 0) {
        stat[size] = 0;
        end = strrchr(stat, ')');
    }
    close(file);
    return end && (!strncmp(end, ") T", 3) || !strncmp(end, ") t", 3));
}

/* Print the answer, and end; without one, become the hook. */
static _Noreturn void pass_on(int server, int payload)
{
    ssize_t size, answer = 0;
    if (!wait_for(server, now() + ACCEPTED * 1000000LL) || recv(server, packet, LARGEST, 0) != 1)
        become(payload, 1);
    if (*packet != '.')
        become(payload, 0);
    while (now() < began + ENDED * 1000000LL) {
        int is_more = wait_for(server, now() + LOOK * 1000000LL);
        if (is_more && !answer && (size = recv(server, packet, LARGEST, 0)) > 0) {
            answer = size;
        } else if (is_more || is_stopped()) {
            if (!answer)
                become(payload, 1);
            break;
        }
    }
    signal(SIGPIPE, SIG_IGN);
    for (ssize_t at = 1, done; at < answer; at += done)
        if ((done = write(1, packet + at, answer - at)) <= 0)
            break;
    _exit(0);
}

int main(int count, char **words)
{
    char cache[4096];
    int server;
    began = now();
    hook = words + 1;
    if (count < 2)
        return 127;
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            become(-1, 0);
    if (!name_cache(cache, sizeof cache) || (server = reach(cache)) < 0)
        become(-1, 0);
    int payload = copy_payload();
    if (!send_call(server, payload))
        become(payload, 0);
    pass_on(server, payload);
}
